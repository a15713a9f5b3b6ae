#include "psn/report/rejection_loops.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace psn {
namespace {

constexpr std::size_t kMostChoices = 8;    // in a round
constexpr std::size_t kFewestValues = 40;  // to judge by
constexpr std::size_t kFewWays = 10;
constexpr std::size_t kMostValues = 4'000;  // to keep

using Entries = std::vector<const Entry*>;

bool same_distribution(const Distribution& a, const Distribution& b) {
  if (a.family() != b.family()) return false;
  const auto p = parameters_of(a), q = parameters_of(b);
  if (!std::equal(p.begin(), p.end(), q.begin(), q.end(), [](const Value& x, const Value& y) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end());
      })) {
    return false;
  }
  const auto c = components_of(a), d = components_of(b);
  return std::equal(c.begin(), c.end(), d.begin(), d.end(), same_distribution);
}

// The same choice once more.
bool repeats(const Entry& a, const Entry& b) {
  return a.role == Role::kSample && b.role == Role::kSample && !a.given && !b.given &&
         a.address->variable == b.address->variable && a.distribution && b.distribution &&
         same_distribution(*a.distribution, *b.distribution);
}

// How many rounds of so many choices there are from here on.
std::size_t rounds_at(const Entries& all, std::size_t at, std::size_t length) {
  std::size_t rounds = 1;
  for (; at + (rounds + 1) * length <= all.size(); ++rounds) {
    for (std::size_t k = 0; k < length; ++k) {
      if (!repeats(*all[at + k], *all[at + rounds * length + k])) return rounds;
    }
  }
  return rounds;
}

// Kolmogorov and Smirnov's distance between two samples, in units in which 2.69 is exceeded once in
// a million.
double distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  double largest = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] == x) ++i;
    while (j < b.size() && b[j] == x) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
  }
  return largest * std::sqrt(n * m / (n + m));
}

// What chooses among a few ways, whether to go on say, is no draw that is thrown away.
bool has_many_values(const std::vector<double>& values) {
  return std::set<double>(values.begin(), values.end()).size() > kFewWays;
}

void keep_values(const Entries& all, std::size_t at, std::size_t length,
                 std::vector<std::vector<double>>& values) {
  std::size_t component = 0;
  for (std::size_t k = 0; k < length; ++k) {
    for (const double x : all[at + k]->value) {
      if (component == values.size()) values.emplace_back();
      std::vector<double>& own = values[component++];
      if (own.size() < kMostValues) own.push_back(x);
    }
  }
}

}  // namespace

void RejectionLoops::add(const Trace& trace) {
  Entries all;
  for (const Entry& entry : trace.entries) {
    if (entry.role == Role::kSample || entry.role == Role::kObserve) all.push_back(&entry);
  }
  for (std::size_t at = 0; at < all.size();) {
    std::size_t length = 1, rounds = 1;
    for (; length <= kMostChoices; ++length) {
      rounds = rounds_at(all, at, length);
      if (rounds > 1) break;
    }
    if (rounds == 1) {
      ++at;
      continue;
    }
    std::vector<std::string> names;
    for (std::size_t k = 0; k < length; ++k) {
      const Address& address = *all[at + k]->address;
      names.push_back(address.name().empty() ? address.variable->text : address.name());
    }
    Seen& seen = seen_[names];
    ++seen.traces;
    seen.rounds += rounds;
    // Rounds of a trace are not independent of their number: one of those before is enough.
    keep_values(all, at, length, seen.before);
    keep_values(all, at + (rounds - 1) * length, length, seen.last);
    at += rounds * length;
  }
}

std::vector<RejectionLoop> RejectionLoops::found() const {
  constexpr double kUnlike = 2.69;
  std::vector<RejectionLoop> loops;
  for (const auto& [names, seen] : seen_) {
    bool unlike = false;
    for (std::size_t k = 0; k < std::min(seen.last.size(), seen.before.size()); ++k) {
      unlike |= seen.last[k].size() >= kFewestValues && has_many_values(seen.before[k]) &&
                distance(seen.last[k], seen.before[k]) > kUnlike;
    }
    if (!unlike) continue;
    const auto traces = static_cast<double>(seen.traces);
    loops.push_back({names, static_cast<double>(seen.rounds) / traces, seen.traces});
  }
  std::sort(loops.begin(), loops.end(), [](const RejectionLoop& a, const RejectionLoop& b) {
    return a.traces != b.traces ? a.traces > b.traces : a.choices < b.choices;
  });
  return loops;
}

}  // namespace psn
