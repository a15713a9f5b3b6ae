// What summaries of several services have in common, as JSON. Internal header of this folder and of
// programs that print the same. Any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "psn/evidence/tests.h"
#include "psn/evidence/uniformity.h"
#include "psn/services/observation_use.h"
#include "psn/services/output_directory.h"
#include "psn/services/posterior_summary.h"
#include "psn/services/run_report.h"

namespace psn::services {

// Moments and quantiles of every column, by name.
nlohmann::ordered_json columns_json(const std::vector<ColumnSummary>& columns);
// Adds columns, diagnostics and speed.
void add_summary(const PosteriorSummary& summary, nlohmann::ordered_json& json);
// "surrogate", "fallbacks" and "failed_runs", where there is something to say.
void add_report(const RunReport& report, nlohmann::ordered_json& json);
void add_failures(const Failures& failures, nlohmann::ordered_json& json);
// "learned", if there are any.
void add_learned_tags(const std::vector<std::string>& learned, nlohmann::ordered_json& json);
// "observations", by name; "prior": true if nothing at all weighed the traces.
void add_observation_use(const ObservationsUse& use, nlohmann::ordered_json& json);

// Null for none.
nlohmann::ordered_json curve_json(const std::optional<evidence::Curve>& curve);
// What summaries of verdicts begin with: "kind" to "tests" (docs/formats/evidence.md).
nlohmann::ordered_json verdict_json(const char* kind, const std::string& model, std::uint64_t seed,
                                    double tolerance, const evidence::Verdict& verdict);

// config.toml and summary.json; publishes them with what was written before.
void save_with(const nlohmann::ordered_json& summary, const std::string& config,
               OutputDirectory& out);

}  // namespace psn::services
