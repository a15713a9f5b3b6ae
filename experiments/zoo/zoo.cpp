#include "experiments/zoo/zoo.h"

namespace psn::zoo {

std::size_t Program::components() const {
  std::size_t count = 0;
  for (const Query& query : judged) count += element_count(query.shape);
  return count;
}

std::vector<Program> programs() {
  return {normals(),
          normals_vector(),
          normals_uniform(),
          normals_uniform_vector(),
          two_scales(),
          crescents(),
          slcp(),
          slcp_vector(),
          logistic(),
          sir(),
          birth_death(),
          first_exit(),
          change_points(),
          stick_breaking(),
          self_exciting(),
          tree(),
          grammar(),
          outliers(),
          queues(),
          predator_prey(),
          tracking(),
          volatility()};
}

}  // namespace psn::zoo
