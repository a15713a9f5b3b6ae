// A classifier two-sample test (C2ST): how well a neural network tells two samples apart, judged on
// points that it did not learn from. One half: not at all; 1: always.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace psn::evidence {

struct ClassifierOptions {
  std::size_t folds = 5;      // of cross-validation
  std::size_t epochs = 1000;  // at most; it ends when its loss no longer falls
  std::size_t width = 0;      // units of a layer; 0: ten for each column
  std::uint64_t seed = 0;
  const std::atomic<bool>* stop = nullptr;  // optional; set: throws Interrupted
};

// Rows of `columns` numbers each, as many of one sample as of the other. The network has two
// layers of ten units for each column unless told otherwise, as published comparisons have it;
// folds run side by side.
double classifier_accuracy(const std::vector<double>& one, const std::vector<double>& other,
                           std::size_t columns, const ClassifierOptions& options = {});

}  // namespace psn::evidence
