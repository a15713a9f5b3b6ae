// The zoo: programs of real character, each with data and an answer that comes from something exact
// or from independent code. They are written as a user would write them: one file each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/model.h"
#include "psn/core/observations.h"
#include "psn/core/posterior.h"

namespace psn::zoo {

// A posterior in numbers: one for each component of what is judged, in order.
struct Answer {
  std::vector<double> mean, sd;
  std::vector<double> error;  // standard errors of the means; empty: exact but for rounding
  std::optional<double> log_evidence;
};

struct Program {
  Model model;
  Observations observed;      // drawn once from the model, as its file says
  std::vector<Query> judged;  // latents and tags that occur in every trace
  std::string source;         // where the answer comes from
  std::function<Answer()> answer;
  // Where that is numbers kept of a long run: makes them anew, in a minute or so.
  std::function<Answer()> long_run;
  // Rows of reference draws of all components judged; empty where there are none.
  std::function<std::vector<double>(std::size_t rows, std::uint64_t seed)> draw;

  std::size_t components() const;  // of all that is judged
};

// Problems of fixed size, as published benchmarks have them.
Program normals();                 // ten means, Gaussian prior, a noisy measurement each
Program normals_vector();          // the same as one vector
Program normals_uniform();         // uniform prior
Program normals_uniform_vector();  // the same as one vector
Program two_scales();              // a broad and a narrow Gaussian around one mean
Program crescents();               // a posterior of two crescents
Program slcp();                    // five parameters of a bivariate normal from four draws
Program slcp_vector();             // the same as one vector
Program logistic();                // logistic regression: ten weights, a hundred outcomes
Program sir();                     // an epidemic as differential equations, noisy counts

// Programs that branch and loop.
Program birth_death();     // births and deaths with unknown rates, counted at fixed times
Program first_exit();      // of a random walk with unknown drift
Program change_points();   // an unknown number of segments
Program stick_breaking();  // a mixture of as many clusters as it takes; a list of random length
Program self_exciting();   // a point process by thinning
Program tree();            // grown by recursion, in scopes
Program grammar();         // a sentence, misheard
Program outliers();        // regression with outliers: a plate of fifty points
Program queues();          // two in series, from a heap of events
Program predator_prey();   // event by event, a thousand choices

// Long series.
Program tracking();    // a linear-Gaussian state space, a hundred steps
Program volatility();  // stochastic volatility, two hundred steps

// All of them, in the order of `psn models`.
std::vector<Program> programs();

}  // namespace psn::zoo
