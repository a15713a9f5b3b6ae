/* A simulator in C, or in Fortran through iso_c_binding, served to an inference engine over PPX.
 *
 *   double program(void *data) {
 *     double mu = psn_sample_normal("mu", 1, 2);
 *     psn_observe_normal("y", mu, 1, NULL);
 *     return mu;
 *   }
 *   int main(int argc, char **argv) { return psn_serve("gaussian", program, NULL, argv[1]); }
 *
 * A name tells random choices apart; where one comes up again in a run, the engine counts. The
 * functions work only while psn_serve runs the program, on its thread. A run that the engine
 * abandons never returns from the call it is in: allocate before psn_serve, not inside the program.
 */
#ifndef PSN_H
#define PSN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Serves at `endpoint` (NULL: tcp://127.0.0.1:5555) until SIGINT or SIGTERM; returns 0 then, and 1
 * with a line on stderr if it cannot serve. Each run calls program(data); of several engines one
 * has a run at a time, the others wait for their turn. */
int psn_serve(const char* model_name, double (*program)(void* data), void* data,
              const char* endpoint);

/* Draws. */
double psn_sample_normal(const char* name, double mean, double stddev);
double psn_sample_uniform(const char* name, double low, double high);
long psn_sample_categorical(const char* name, const double* probs, size_t count);
long psn_sample_poisson(const char* name, double rate);
long psn_sample_bernoulli(const char* name, double probability);
double psn_sample_beta(const char* name, double concentration1, double concentration0);
double psn_sample_exponential(const char* name, double rate);
double psn_sample_gamma(const char* name, double concentration, double rate);
double psn_sample_log_normal(const char* name, double mean, double stddev);
long psn_sample_binomial(const char* name, double total_count, double probability);
double psn_sample_weibull(const char* name, double scale, double concentration);
/* Into result[0..count). */
void psn_sample_normals(const char* name, const double* mean, const double* stddev, size_t count,
                        double* result);

/* Measurable quantities. `value` is the program's own data; NULL: the engine has it, or draws it.
 * Return what was observed: NaN if neither the program nor the engine tells. */
double psn_observe_normal(const char* name, double mean, double stddev, const double* value);
double psn_observe_uniform(const char* name, double low, double high, const double* value);
double psn_observe_categorical(const char* name, const double* probs, size_t count,
                               const double* value);
double psn_observe_poisson(const char* name, double rate, const double* value);
double psn_observe_bernoulli(const char* name, double probability, const double* value);
double psn_observe_beta(const char* name, double concentration1, double concentration0,
                        const double* value);
double psn_observe_exponential(const char* name, double rate, const double* value);
double psn_observe_gamma(const char* name, double concentration, double rate, const double* value);
double psn_observe_log_normal(const char* name, double mean, double stddev, const double* value);
double psn_observe_binomial(const char* name, double total_count, double probability,
                            const double* value);
double psn_observe_weibull(const char* name, double scale, double concentration,
                           const double* value);
/* `value` has `count` elements or is NULL. */
void psn_observe_normals(const char* name, const double* mean, const double* stddev, size_t count,
                         const double* value);

/* The same of a quantity that the program computes, instead of drawing it: it has no density, so
 * only networks can infer from it. Returns what was observed, else `value`. */
double psn_observe_value(const char* name, double value);
void psn_observe_value_array(const char* name, const double* values, size_t count);

/* Records a derived quantity. */
void psn_tag(const char* name, double value);
void psn_tag_array(const char* name, const double* values, size_t count);

#ifdef __cplusplus
}
#endif

#endif
