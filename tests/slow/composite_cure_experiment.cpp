// The third experiment from beginning to end on next to nothing: that it runs, says what it should,
// and uses again what it kept.
#include "experiments/composite_cure/experiment.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

namespace psn::composite_cure {
namespace {

Plan tiny_plan(const ExperimentRequest& request) {
  Plan tiny = plan(request);
  tiny.stored = 400;
  tiny.validation = tiny.compared = 20;
  tiny.samples = 100;
  tiny.prior = 200;
  tiny.tuned_on = {5};
  tiny.tuning_seen = 64;
  for (Preset* recipe : {&tiny.surrogate, &tiny.inference, &tiny.smallest}) {
    recipe->network.core_dim = 16;
    recipe->training.traces = 1'024;
    recipe->training.validate_every = recipe->training.progress_every = 4;
  }
  return tiny;
}

TEST(CureExperiment, HasAllResultsAndUsesWhatItKept) {
  const auto directory = std::filesystem::temp_directory_path() / "psn_composite_cure_experiment";
  std::filesystem::remove_all(directory);
  ExperimentRequest request;
  request.directory = directory.string();
  std::vector<std::string> said;
  std::mutex mutex;
  request.status = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    said.push_back(line);
  };
  const auto report = run_experiment(request, tiny_plan(request));
  const auto json = nlohmann::json::parse(report.results);
  for (const char* observed : {"minus", "nominal", "plus"}) {
    for (const char* engine : {"gt", "ic_simulator", "ic_surrogate", "ic_smallest"}) {
      const auto& cell = json["table1"][observed][engine];
      EXPECT_EQ(cell["samples"], 100);
      EXPECT_GE(cell["ess"].get<double>(), 1);
      EXPECT_GT(cell["mean"].get<double>(), 100);
    }
  }
  for (const char* what :
       {"simulator_1d", "simulator_2d", "surrogate", "ic_simulator_1d", "ic_surrogate"}) {
    EXPECT_GT(json["traces_per_second"][what].get<double>(), 0) << what;
  }
  EXPECT_LT(json["field_rmse"].get<double>(), json["field_max"].get<double>());
  EXPECT_EQ(json["tuning"]["tuned"].size(), 1);
  for (const char* file : {"field.vl.json", "difference.vl.json", "mu_w.vl.json",
                           "learning_surrogate.vl.json", "tuning.vl.json"}) {
    EXPECT_TRUE(nlohmann::json::accept(report.files.at(file))) << file;
  }

  said.clear();
  const auto again = nlohmann::json::parse(run_experiment(request, tiny_plan(request)).results);
  EXPECT_EQ(again["table1"], json["table1"]);
  EXPECT_EQ(again["field_rmse"], json["field_rmse"]);
  for (const std::string& line : said) {
    EXPECT_EQ(line.find("simulating"), std::string::npos) << line;
    EXPECT_EQ(line.find("training"), std::string::npos) << line;
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace psn::composite_cure
