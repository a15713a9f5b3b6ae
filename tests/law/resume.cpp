// Training that stops and goes on is training that did not stop; and learning on from a trained
// network takes nothing away.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/io/atomic_file.h"
#include "psn/nn/network_file.h"
#include "psn/train/checkpoint.h"
#include "psn/train/trainer.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

namespace fs = std::filesystem;

// Addresses, transitions and bounds keep appearing; an observation is at the end. `extra` is a
// branch that the plain program does not have.
Model program(bool extra = false) {
  return {"program", [extra](Context& ctx) {
            const double a = ctx.sample(Normal(0, 1), {.name = "a"});
            for (int i = 0;; ++i) {
              const auto on =
                  ctx.sample(Bernoulli(1 / (1 + std::exp(-a))), {.name = "on", .index = i});
              if (on.integer() == 0) break;
              ctx.sample(Uniform(0, 1 + std::abs(a)), {.name = "u"});
            }
            if (extra && a > 0.3) ctx.sample(Gamma(2, 1), {.name = "extra"});
            ctx.observe(Normal(a, 0.5), {.name = "x"});
            return Value(a);
          }};
}

NetworkConfig small(Purpose purpose, Addressing addressing = Addressing::kInstance,
                    const char* core = "lstm") {
  NetworkConfig config;
  config.core = core;
  config.purpose = purpose;
  config.addressing = addressing;
  config.core_dim = 8;
  config.variable_layers = {2, 8};
  config.transition_hidden_dim = 8;
  return config;
}

TrainOptions quick() {
  TrainOptions options = preset("default").training;
  options.traces = 2000;
  options.batch_size = 32;  // 63 updates
  options.seed = 1;
  options.validation_traces = 100;
  options.progress_every = 5;
  return options;
}

struct ResumeCase {
  const char* name;
  NetworkConfig network;
  std::function<void(TrainOptions&)> change = [](TrainOptions&) {};
  Model model = program();
};

NetworkConfig counting(Addressing addressing) {
  NetworkConfig config = small(Purpose::kSurrogate, addressing);
  config.tally = true;
  return config;
}

class Resume : public ::testing::TestWithParam<ResumeCase> {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("psn_resume_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // All that was reported, but for time.
  static ProgressSink into(std::vector<std::vector<double>>& history) {
    return [&](const Progress& p) {
      const Validation v = p.validation.value_or(Validation{});
      history.push_back({static_cast<double>(p.batches), p.loss, p.kl, p.rate,
                         static_cast<double>(p.transitions), v.loss, v.kl, v.standard_error});
    };
  }

  fs::path folder_;
};

TEST_P(Resume, EqualsTrainingThatWasNotInterrupted) {
  TrainOptions options = quick();
  GetParam().change(options);
  const std::vector<std::uint64_t> moments{1, 2, 10, 29, 50, 63};
  std::map<std::uint64_t, std::size_t> reported;  // before each
  std::vector<std::vector<double>> history;
  auto network = std::make_shared<Network>(GetParam().network, 4);
  options.checkpoint_every = 0;
  options.checkpoint = [&](const TrainingState& state) {
    if (std::find(moments.begin(), moments.end(), state.batches) == moments.end()) return;
    reported[state.batches] = history.size();
    CheckpointFile(path(std::to_string(state.batches) + ".psn"))
        .save({network, state, "", "begun so", "there"});
  };
  InProcess simulator(GetParam().model);
  train_online(simulator, *network, options, into(history));
  const std::string expected = serialize_network({network, ""});

  options.checkpoint = {};
  for (const auto& [moment, count] : reported) {
    // Another process has other ids of addresses, as has another simulator.
    InProcess again(GetParam().model);
    Checkpoint checkpoint = CheckpointFile(path(std::to_string(moment) + ".psn")).load();
    EXPECT_EQ(checkpoint.config, "begun so");
    EXPECT_EQ(checkpoint.source, "there");
    options.resume = &checkpoint.state;
    std::vector<std::vector<double>> rest(history.begin(),
                                          history.begin() + static_cast<long>(count));
    EXPECT_TRUE(train_online(again, *checkpoint.network, options, into(rest)).finished);
    EXPECT_TRUE(serialize_network({checkpoint.network, ""}) == expected) << moment;
    EXPECT_EQ(rest, history) << moment;
  }
  EXPECT_GE(reported.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    All, Resume,
    ::testing::Values(
        ResumeCase{"surrogate", small(Purpose::kSurrogate)},
        ResumeCase{"inference", small(Purpose::kInference),
                   [](TrainOptions& options) { options.missing = 0.3; }},
        ResumeCase{"sites_and_dense_adam", small(Purpose::kSurrogate, Addressing::kSite),
                   [](TrainOptions& options) { options.adam.touched_only = false; }},
        ResumeCase{"shared_indices_likelihood", small(Purpose::kSurrogate, Addressing::kShared),
                   [](TrainOptions& options) { options.loss = Loss::kNegativeLogLikelihood; }},
        // Interrupted before and after there is a plan of what to count.
        ResumeCase{"counts", counting(Addressing::kShared), [](TrainOptions&) {}, test::events()},
        ResumeCase{"counts_and_dense_adam", counting(Addressing::kInstance),
                   [](TrainOptions& options) { options.adam.touched_only = false; },
                   test::events()},
        ResumeCase{"gru", small(Purpose::kSurrogate, Addressing::kShared, "gru")},
        ResumeCase{"attention", small(Purpose::kInference, Addressing::kSite, "attention")},
        ResumeCase{"plateau", small(Purpose::kSurrogate),
                   [](TrainOptions& options) {
                     options.validate_every = 3;
                     options.rate = {.learning_rate = 0.1,
                                     .schedule = Schedule::kPlateau,
                                     .plateau_patience = 1};
                   }},
        ResumeCase{"patience", small(Purpose::kSurrogate),
                   [](TrainOptions& options) {
                     options.validate_every = 1;
                     options.patience = 3;
                     options.rate.learning_rate = 0.05;
                   }}),
    [](const auto& test) { return test.param.name; });

TEST_F(Resume, RefusesCheckpointsThatCannotBe) {
  auto network = std::make_shared<Network>(small(Purpose::kSurrogate), 4);
  TrainOptions options = quick();
  options.traces = 320;
  options.checkpoint_every = 0;
  CheckpointFile file(path("c.psn"));
  options.checkpoint = [&](const TrainingState& state) { file.save({network, state, "", ""}); };
  InProcess simulator(program());
  train_online(simulator, *network, options);
  const NetworkFile good = load_network(path("c.psn"));
  ASSERT_NO_THROW(CheckpointFile(path("c.psn")).load());

  const auto expect_refused = [&](const std::function<void(NetworkFile&)>& change) {
    NetworkFile bad = good;
    change(bad);
    save_network(path("bad.psn"), bad);
    try {
      CheckpointFile(path("bad.psn")).load();
      ADD_FAILURE() << "not refused";
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("bad.psn"), std::string::npos) << error.what();
    }
  };
  const auto replace = [](const std::string& from, const std::string& to) {
    return [=](NetworkFile& bad) {
      const std::size_t at = bad.training.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      bad.training.replace(at, from.size(), to);
    };
  };
  expect_refused(replace("\"batches\":10", "\"batches\":11"));
  expect_refused(replace("\"reported\":10", "\"reported\":-1"));
  expect_refused(replace("\"loss_sum\":", "\"loss_some\":"));
  expect_refused([](NetworkFile& bad) { bad.training.clear(); });
  expect_refused([](NetworkFile& bad) { bad.training = "{"; });
  expect_refused([](NetworkFile& bad) { bad.training_tensors.erase("fitted"); });
  expect_refused([](NetworkFile& bad) { bad.training_tensors.erase("2.reservoir"); });
  expect_refused([](NetworkFile& bad) { bad.training_tensors["more"] = Tensor::from({1}, {1}); });
  expect_refused([](NetworkFile& bad) {
    bad.training_tensors["fitted"] = Tensor::from({-1, -1}, {2});
  });
  expect_refused(
      [](NetworkFile& bad) { bad.training_tensors["last_updates"] = Tensor::from({11}, {1}); });
  expect_refused([](NetworkFile& bad) {
    bad.training_tensors["2.estimate"] = Tensor::from({7, 0.5, 0, 0, 0}, {5});
  });
  expect_refused([](NetworkFile& bad) {
    bad.training_tensors["2.reservoir"] = Tensor{Tensor::Type::kFloat32, {1, 0}, ""};
  });

  const std::string bytes = read_file(path("c.psn"));
  for (std::size_t i = 0; i < 40; ++i) {
    std::string damaged = bytes;
    const std::size_t at = bytes.size() * i / 40;
    if (i % 2) {
      damaged.resize(at);
    } else {
      damaged[at] ^= 0x10;
    }
    write_file_atomically(path("bad.psn"), damaged);
    EXPECT_THROW(CheckpointFile(path("bad.psn")).load(), DataError) << i;
  }
}

// The best network on validation comes out, not the last; and training ends when there has been no
// better one for as long as is allowed.
TEST(Validations, KeepTheBestNetwork) {
  InProcess simulator(program());
  TrainOptions options = quick();
  options.validate_every = 2;
  options.rate = {.learning_rate = 0.5, .schedule = Schedule::kConstant};  // jumps about
  Network network(small(Purpose::kSurrogate), 4);
  std::vector<double> losses;
  const Progress last = train_online(simulator, network, options, [&](const Progress& p) {
    if (p.validation) losses.push_back(p.validation->loss);
  });
  const double best = *std::min_element(losses.begin(), losses.end());
  EXPECT_EQ(losses.size(), 32u);
  EXPECT_LT(best, losses[losses.size() - 2]);  // the last one is of what comes out
  EXPECT_EQ(last.validation->loss, best);
  EXPECT_EQ(validate(network, held_out_traces(simulator, options)).loss, best);

  options.patience = 2;
  Network patient(small(Purpose::kSurrogate), 4);
  const Progress early = train_online(simulator, patient, options);
  EXPECT_TRUE(early.finished);
  EXPECT_LT(early.traces, options.traces);
  std::size_t at = 0;  // two in a row that are no better than the best before
  for (std::size_t stale = 0; stale < 2; ++at) {
    const auto so_far = losses.begin() + static_cast<long>(at);
    stale = at > 0 && losses[at] >= *std::min_element(losses.begin(), so_far) ? stale + 1 : 0;
  }
  EXPECT_EQ(early.batches, 2 * at);
}

TEST(Schedules, AreWhatTheyAreSaidToBe) {
  RateOptions options{.learning_rate = 0.1, .schedule = Schedule::kPlateau, .final_rate = 0.1};
  options.plateau_patience = 2;
  Plateau plateau;
  std::vector<double> rates;
  for (const double loss : {5.0, 4.0, 4.0, 4.5, 3.0, 3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 3.7, 3.8}) {
    plateau.add({.loss = loss}, options);
    rates.push_back(rate_at(options, 0, plateau));
  }
  EXPECT_EQ(rates, (std::vector<double>{0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.0125,
                                        0.0125, 0.1 * 0.1, 0.1 * 0.1, 0.1 * 0.1}));
  EXPECT_EQ(plateau.best->loss, 3);
  options.schedule = Schedule::kCosine;
  EXPECT_EQ(rate_at(options, 0, plateau), 0.1);
  EXPECT_NEAR(rate_at(options, 0.5, plateau), 0.055, 1e-12);
  EXPECT_NEAR(rate_at(options, 1, plateau), 0.01, 1e-12);
  TrainOptions training = quick();
  training.rate.schedule = Schedule::kPlateau;
  EXPECT_THROW(check(training), InvalidArgument);
}

// ---- Learning on ----

std::vector<Trace> first_traces(Simulator& simulator, const TrainOptions& options) {
  TraceStream stream(simulator, training_stream(options));
  std::vector<Trace> traces;
  stream.take(300, traces);
  return traces;
}

TEST(LearningOn, TakesNothingAwayWhenTheNetworkGrows) {
  InProcess plain(program()), with_more(program(true));
  Network network(small(Purpose::kSurrogate), 4);
  TrainOptions options = quick();
  options.traces = 20'000;
  train_online(plain, network, options);
  const std::vector<Trace> known = first_traces(plain, options);
  const Validation before = validate(network, known);
  EXPECT_EQ(before.unseen, 0u);
  options.seed = 8;
  Network grown = network;
  Growth growth(grown, true);
  growth.absorb(first_traces(with_more, options));
  EXPECT_GT(grown.size(), network.size());
  EXPECT_GT(grown.transition_count(), network.transition_count());
  EXPECT_NEAR(validate(grown, known).loss, before.loss, 1e-5);  // Theorem 1
  for (NodeId id = Network::kEnd + 1; id < network.size(); ++id) {
    EXPECT_EQ(grown.node(id).scaling.location, network.node(id).scaling.location);
    EXPECT_EQ(grown.node(id).scaling.scale, network.node(id).scaling.scale);
  }
}

TEST(LearningOn, StartsWhereTheNetworkWas) {
  InProcess simulator(program());
  Network network(small(Purpose::kSurrogate), 4);
  TrainOptions options = quick();
  options.traces = 20'000;
  const double rough = train_online(simulator, network, options).validation->kl;
  const Network trained = network;

  // The first update from there: the loss of its batch is the trained network's, and the step is
  // that of a new optimizer, which moves no weight by more than the rate (but for those of begin).
  options.traces = options.batch_size = 2000;
  options.rate.learning_rate = 1e-6;
  double loss = 0;
  train_online(simulator, network, options, [&](const Progress& p) { loss = p.kl; });
  EXPECT_EQ(network.parameters().step, 1u);
  TraceStream stream(simulator, training_stream(options));
  std::vector<Trace> batch;
  stream.take(options.batch_size, batch);
  EXPECT_NEAR(loss, validate(trained, batch).kl, 1e-4);
  const BlockId core = 0;  // the first of its blocks
  const Block& block = trained.parameters().block(core);
  float largest = 0;
  for (std::size_t i = 0; i < std::size_t{block.rows} * block.columns; ++i) {
    largest = std::max(largest, std::abs(network.parameters().values(core)[i] -
                                         trained.parameters().values(core)[i]));
  }
  EXPECT_LE(largest, 1.5e-6f);
  EXPECT_GT(largest, 0.5e-6f);

  // Learning on for a while makes it better.
  network = trained;
  options = quick();
  options.traces = 20'000;
  options.seed = 2;
  EXPECT_LT(train_online(simulator, network, options).validation->kl, rough);
}

}  // namespace
}  // namespace psn
