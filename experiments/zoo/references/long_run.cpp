// zoo_long_run NAME: makes the numbers of references/kept for a program of the zoo, on stdout.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

void print_kept(const Program& program, const Answer& answer) {
  fmt::print("// {}: {}. Mean, sd, standard error of the mean.\n", program.model.name,
             program.source);
  fmt::print("// cmake --build --preset release --target zoo_long_run\n");
  fmt::print("// build/bin/zoo_long_run {}\n", program.model.name);
  std::size_t k = 0;
  for (const Query& query : program.judged) {
    for (std::size_t i = 0; i < element_count(query.shape); ++i, ++k) {
      const double error = answer.error.empty() ? 0 : answer.error[k];
      fmt::print("{{\"{}\", {:.6g}, {:.6g}, {:.2g}}},\n", query.name, answer.mean[k], answer.sd[k],
                 error);
    }
  }
  if (answer.log_evidence)
    fmt::print("{{\"log evidence\", {:.6f}, 0, 0}},\n", *answer.log_evidence);
}

}  // namespace
}  // namespace psn::zoo

int main(int argc, char** argv) {
  for (const psn::zoo::Program& program : psn::zoo::programs()) {
    if (argc != 2 || program.model.name != std::string_view(argv[1]) || !program.long_run) continue;
    psn::zoo::print_kept(program, program.long_run());
    return 0;
  }
  std::fputs("usage: zoo_long_run NAME, of a program whose answer is kept\n", stderr);
  return 64;
}
