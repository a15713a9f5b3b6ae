#include <optional>
#include <span>

#include "psn/core/context.h"
#include "psn/ppx/psn.h"
#include "psn/ppx/server.h"

namespace psn {
namespace {

Value array(const double* values, std::size_t count) {
  return Value(std::span(values, count));
}

double draw(const char* name, const Distribution& distribution) {
  return sample(distribution, {.name = name});
}

long draw_integer(const char* name, const Distribution& distribution) {
  return sample(distribution, {.name = name}).integer();
}

double observe_scalar(const char* name, const Distribution& distribution, const double* value) {
  return observe(distribution, value ? std::optional<Value>(*value) : std::nullopt, {.name = name});
}

}  // namespace
}  // namespace psn

using namespace psn;  // NOLINT: names of the C interface carry a prefix instead

int psn_serve(const char* model_name, double (*program)(void* data), void* data,
              const char* endpoint) {
  Model model(model_name, [=](Context&) { return Value(program(data)); });
  model.reentrant = false;
  // Untouched pages cost nothing, and Fortran puts arrays on the stack.
  model.stack_size = std::size_t{64} << 20;
  const char* arguments[] = {model_name, endpoint};
  return psn::ppx::serve_main(std::move(model), endpoint ? 2 : 1, const_cast<char**>(arguments));
}

double psn_sample_normal(const char* name, double mean, double stddev) {
  return draw(name, Normal(mean, stddev));
}
double psn_sample_uniform(const char* name, double low, double high) {
  return draw(name, Uniform(low, high));
}
long psn_sample_categorical(const char* name, const double* probs, size_t count) {
  return draw_integer(name, Categorical(array(probs, count)));
}
long psn_sample_poisson(const char* name, double rate) {
  return draw_integer(name, Poisson(rate));
}
long psn_sample_bernoulli(const char* name, double probability) {
  return draw_integer(name, Bernoulli(probability));
}
double psn_sample_beta(const char* name, double concentration1, double concentration0) {
  return draw(name, Beta(concentration1, concentration0));
}
double psn_sample_exponential(const char* name, double rate) {
  return draw(name, Exponential(rate));
}
double psn_sample_gamma(const char* name, double concentration, double rate) {
  return draw(name, Gamma(concentration, rate));
}
double psn_sample_log_normal(const char* name, double mean, double stddev) {
  return draw(name, LogNormal(mean, stddev));
}
long psn_sample_binomial(const char* name, double total_count, double probability) {
  return draw_integer(name, Binomial(total_count, probability));
}
double psn_sample_weibull(const char* name, double scale, double concentration) {
  return draw(name, Weibull(scale, concentration));
}
void psn_sample_normals(const char* name, const double* mean, const double* stddev, size_t count,
                        double* result) {
  const Value values = sample(Normal(array(mean, count), array(stddev, count)), {.name = name});
  std::copy(values.begin(), values.end(), result);
}

double psn_observe_normal(const char* name, double mean, double stddev, const double* value) {
  return observe_scalar(name, Normal(mean, stddev), value);
}
double psn_observe_uniform(const char* name, double low, double high, const double* value) {
  return observe_scalar(name, Uniform(low, high), value);
}
double psn_observe_categorical(const char* name, const double* probs, size_t count,
                               const double* value) {
  return observe_scalar(name, Categorical(array(probs, count)), value);
}
double psn_observe_poisson(const char* name, double rate, const double* value) {
  return observe_scalar(name, Poisson(rate), value);
}
double psn_observe_bernoulli(const char* name, double probability, const double* value) {
  return observe_scalar(name, Bernoulli(probability), value);
}
double psn_observe_beta(const char* name, double concentration1, double concentration0,
                        const double* value) {
  return observe_scalar(name, Beta(concentration1, concentration0), value);
}
double psn_observe_exponential(const char* name, double rate, const double* value) {
  return observe_scalar(name, Exponential(rate), value);
}
double psn_observe_gamma(const char* name, double concentration, double rate, const double* value) {
  return observe_scalar(name, Gamma(concentration, rate), value);
}
double psn_observe_log_normal(const char* name, double mean, double stddev, const double* value) {
  return observe_scalar(name, LogNormal(mean, stddev), value);
}
double psn_observe_binomial(const char* name, double total_count, double probability,
                            const double* value) {
  return observe_scalar(name, Binomial(total_count, probability), value);
}
double psn_observe_weibull(const char* name, double scale, double concentration,
                           const double* value) {
  return observe_scalar(name, Weibull(scale, concentration), value);
}
void psn_observe_normals(const char* name, const double* mean, const double* stddev, size_t count,
                         const double* value) {
  observe(Normal(array(mean, count), array(stddev, count)),
          value ? std::optional<Value>(array(value, count)) : std::nullopt, {.name = name});
}

double psn_observe_value(const char* name, double value) {
  return observe_value(value, {.name = name});
}
void psn_observe_value_array(const char* name, const double* values, size_t count) {
  observe_value(array(values, count), {.name = name});
}

void psn_tag(const char* name, double value) {
  tag(value, {.name = name});
}
void psn_tag_array(const char* name, const double* values, size_t count) {
  tag(array(values, count), {.name = name});
}
