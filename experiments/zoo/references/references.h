// Where the answers come from. Each file states its problem anew, and uses nothing of the program
// but the data: what both have wrong in the same way, they have wrong twice.
#pragma once

#include <span>

#include "experiments/zoo/zoo.h"

namespace psn::zoo::references {

using Data = std::span<const double>;

Answer normals(Data x, bool uniform);
std::vector<double> draw_normals(Data x, bool uniform, std::size_t rows, std::uint64_t seed);

Answer two_scales(Data x);
std::vector<double> draw_two_scales(Data x, std::size_t rows, std::uint64_t seed);

// For points from which no crescent reaches the prior's ends.
Answer crescents(Data x);
std::vector<double> draw_crescents(Data x, std::size_t rows, std::uint64_t seed);

Answer slcp(Data x, Data y);
std::vector<double> draw_slcp(Data x, Data y, std::size_t rows, std::uint64_t seed);

Answer logistic();
Answer logistic_long_run(Data stimulus, Data spikes);
std::vector<double> draw_logistic(Data stimulus, Data spikes, std::size_t rows, std::uint64_t seed);

Answer sir(Data ill);
std::vector<double> draw_sir(Data ill, std::size_t rows, std::uint64_t seed);

Answer birth_death(Data counts);
std::vector<double> draw_birth_death(Data counts, std::size_t rows, std::uint64_t seed);

Answer first_exit(double duration, double place);
std::vector<double> draw_first_exit(double duration, double place, std::size_t rows,
                                    std::uint64_t seed);

// The number of segments, and the level at these times. The series may go on unseen.
Answer change_points(Data y, const std::vector<std::size_t>& times);

Answer stick_breaking(Data y);

Answer tree(double harvest);
std::vector<double> draw_tree(double harvest, std::size_t rows, std::uint64_t seed);

Answer outliers(Data y);
std::vector<double> draw_outliers(Data y, std::size_t rows, std::uint64_t seed);

Answer grammar(Data heard);

// At these times.
Answer tracking(Data seen, const std::vector<std::size_t>& times);

// Those with kept answers: the answer, the run that made it, and the likelihood that it rests on
// (where particles are named, an unbiased estimate of it).
Answer volatility();
Answer volatility_long_run(Data returns);
double volatility_likelihood(Data returns, double level, double persistence, double spread);

Answer self_exciting();
Answer self_exciting_long_run(Data counts);
double self_exciting_likelihood(Data counts, double base, double offspring, std::size_t particles,
                                Rng& rng);

Answer predator_prey();
Answer predator_prey_long_run(Data census);
double predator_prey_likelihood(Data census, std::span<const double> rates, std::size_t particles,
                                Rng& rng);

Answer queues();
Answer queues_long_run(Data departures);
double queues_likelihood(Data departures, std::span<const double> rates, std::size_t particles,
                         Rng& rng);

}  // namespace psn::zoo::references
