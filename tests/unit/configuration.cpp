// Tables of fields: limits, words, files, and the reference page made from them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "psn/base/error.h"
#include "psn/nn/network_json.h"
#include "psn/train/configuration_page.h"
#include "psn/train/options.h"

namespace psn {
namespace {

using nlohmann::json;

// Each value that a field can have at its limits, put where the field lies.
template <class Config, class Use>
void at_limits(const Fields<Config>& fields, Use use) {
  using F = Field<Config>;
  for (const F& field : fields) {
    Config config;
    if (const auto* whole = std::get_if<typename F::Whole>(&field.kind)) {
      for (const std::uint64_t value : {whole->low, whole->high}) {
        whole->at(config) = value;
        use(field, config, true);
      }
      whole->at(config) = whole->high + 1;
      use(field, config, false);
    } else if (const auto* real = std::get_if<typename F::Real>(&field.kind)) {
      for (const double value : {real->low, real->high}) {
        real->at(config) = value;
        use(field, config, true);
      }
      for (const double value : {real->low - 1, real->high * 2, std::nan("")}) {
        real->at(config) = value;
        use(field, config, false);
      }
    } else {
      for (const std::string& word : field.words()) {
        ASSERT_TRUE(field.set_word(config, word));
        EXPECT_EQ(field.text(config), word);
        use(field, config, true);
      }
      EXPECT_FALSE(field.set_word(config, "another"));
    }
  }
}

TEST(Configuration, LimitsHoldInTheLibraryAndInFiles) {
  at_limits(network_fields(), [](const auto& field, NetworkConfig config, bool right) {
    EXPECT_EQ(!config.problem(), right) << field.name << " " << field.text(config);
    if (!field.is_used(config)) return;
    const std::string label = "file";
    const auto read = [&] { return read_config(JsonReader(label), to_json(config)); };
    if (!right) {
      EXPECT_THROW(read(), DataError) << field.name;
      return;
    }
    EXPECT_EQ(to_json(read()), to_json(config)) << field.name;
    EXPECT_EQ(field.text(read()), field.text(config)) << field.name;
  });
  at_limits(training_fields(), [](const auto& field, TrainOptions options, bool right) {
    if (options.patience > 0 || options.rate.schedule == Schedule::kPlateau) {
      options.validate_every = std::max<std::uint64_t>(1, options.validate_every);
    }
    std::string problem;
    try {
      check(options);
    } catch (const InvalidArgument& error) {
      problem = error.what();
    }
    EXPECT_EQ(problem.empty(), right) << field.name << " " << field.text(options) << problem;
  });
}

TEST(Configuration, LayersHaveTheirLimitsToo) {
  NetworkConfig config;
  config.variable_embedding["theta"].num_layers = 7;
  EXPECT_EQ(config.problem(), "layers of 'theta': num_layers must lie in 1 to 6, not 7");
  config.variable_embedding.clear();
  config.observation_layers.channels = 0;
  EXPECT_EQ(config.problem(), "layers of observations: channels must lie in 1 to 32768, not 0");
}

TEST(Configuration, AFileWithoutANewFieldHasItsDefault) {
  json object = to_json(NetworkConfig{});
  object.erase("tags");
  const std::string label = "file";
  EXPECT_FALSE(read_config(JsonReader(label), object).tags);
  object.erase("lstm_dim");
  EXPECT_THROW(read_config(JsonReader(label), object), DataError);
}

TEST(Configuration, ThePapersPresetHasNothingOfOurs) {
  const Preset paper = preset("paper");
  EXPECT_EQ(paper.network.addressing, Addressing::kInstance);
  EXPECT_EQ(paper.training.loss, Loss::kNegativeLogLikelihood);
  EXPECT_EQ(paper.training.rate.schedule, Schedule::kConstant);
  EXPECT_EQ(paper.training.rate.learning_rate, 5e-4);
  EXPECT_EQ(paper.training.batch_size, 512u);
  EXPECT_EQ(paper.training.traces, 500'000u);
  EXPECT_FALSE(paper.training.rate_rules.begin);
  EXPECT_EQ(paper.training.rate_rules.wide_inputs, 0u);
  EXPECT_EQ(paper.training.adam.clip_norm, 0);
  EXPECT_FALSE(paper.training.adam.touched_only);
  EXPECT_FALSE(paper.training.inherit);
  EXPECT_FALSE(paper.network.tags);
  EXPECT_EQ(preset("paper", Purpose::kInference).network.observation_layers.skip, 0u);
}

TEST(Configuration, TheReferencePageIsCurrent) {
  const std::string path = PSN_SOURCE "/docs/reference/configuration.md";
  if (std::getenv("PSN_WRITE_DOCS")) std::ofstream(path) << configuration_page();
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), configuration_page()) << "PSN_WRITE_DOCS=1 and this test write it anew";
}

}  // namespace
}  // namespace psn
