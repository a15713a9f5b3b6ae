// The evidence that a verdict stands on: as JSON (docs/formats/evidence.md) and for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "psn/evidence/tests.h"
#include "psn/evidence/uniformity.h"

namespace psn::app {

// Null for none.
nlohmann::ordered_json curve_json(const std::optional<evidence::Curve>& curve);
// What all three kinds of summary begin with: "kind" to "tests".
nlohmann::ordered_json verdict_json(const char* kind, const std::string& model, std::uint64_t seed,
                                    double tolerance, const evidence::Verdict& verdict);
// The last lines on stdout: passed, or why not, and how sure that is.
void print_verdict(const evidence::Verdict& verdict);

}  // namespace psn::app
