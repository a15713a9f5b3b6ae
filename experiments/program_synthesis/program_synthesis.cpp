#include "experiments/program_synthesis/program_synthesis.h"

#include <cmath>
#include <string>
#include <vector>

namespace psn::program_synthesis {
namespace {

// A body that is being written. The open ones, outermost first, are the simulator's state.
struct Body {
  bool allows_else = false;  // the last statement is an if
  bool empty = true;
};

class Writer {
 public:
  explicit Writer(Context& ctx) : ctx_(ctx) {}

  void write() {
    for (;;) {
      const Kind kind = choose_kind();
      if (kind == Kind::kClose) {
        if (depth() == 0) return;
        open_.pop_back();
        continue;
      }
      choose_details(kind);
      open_.back() = {.allows_else = kind == Kind::kIf, .empty = false};
      if (kind != Kind::kAssign) open_.emplace_back();
    }
  }

 private:
  std::size_t depth() const { return open_.size() - 1; }

  Value sample(const Distribution& distribution, const char* name) {
    return ctx_.sample(distribution, {.name = name + std::string("_d") + std::to_string(depth())});
  }

  Kind choose_kind() {
    const Body& body = open_.back();
    // Without the damping the process is nearly critical: traces of thousands of choices.
    const double damping = std::pow(0.7, static_cast<double>(depth()));
    return static_cast<Kind>(sample(Categorical({0.40, 0.22 * damping, body.allows_else ? 0.50 : 0,
                                                 0.08 * damping, body.empty ? 0 : 0.60}),
                                    "kind")
                                 .integer());
  }

  void choose_details(Kind kind) {
    switch (kind) {
      case Kind::kAssign:
        sample(Categorical({0.5, 0.5}), "form");
        sample(Normal(0, 1), "a");
        sample(Normal(0, 1), "b");
        break;
      case Kind::kIf:
        sample(Categorical({0.5, 0.5}), "cmp");
        sample(Normal(0, 1), "t");
        break;
      case Kind::kFor:
        sample(Categorical({1.0 / 3, 1.0 / 3, 1.0 / 3}), "n");
        break;
      case Kind::kElse:
      case Kind::kClose:
        break;
    }
  }

  Context& ctx_;
  std::vector<Body> open_ = std::vector<Body>(1);
};

}  // namespace

Model model() {
  return {"program-synthesis", [](Context& ctx) { Writer(ctx).write(); },
          "writes Python programs with nested if, else and for (the paper's 4.2)"};
}

}  // namespace psn::program_synthesis
