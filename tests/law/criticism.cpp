// Criticism by figures that are made up: p-values are exact ranks, blame falls where it should.
#include "psn/evidence/criticism.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "psn/base/numerics.h"
#include "psn/base/rng.h"

namespace psn::evidence {
namespace {

constexpr std::size_t kSites = 12, kReplicates = 199;

// Sites that depend on each other, on scales of their own, one of them often missing.
std::vector<SiteFigures> data_set(Rng& rng) {
  std::vector<SiteFigures> row;
  const double shared = rng.normal();
  for (std::size_t s = 0; s < kSites; ++s) {
    const double z = 0.6 * shared + 0.8 * rng.normal(), scale = 1 + static_cast<double>(s);
    row.push_back({normal_cdf(z), scale * z * z + 10 * scale});
  }
  if (rng.uniform() < 0.5) row[4] = {kNaN, kNaN};
  return row;
}

Criticism judged(Rng& rng, const std::vector<SiteFigures>& data) {
  std::vector<std::vector<SiteFigures>> table;
  for (std::size_t i = 0; i < kReplicates; ++i) table.push_back(data_set(rng));
  table.push_back(data);
  std::vector<std::size_t> group(kSites);
  for (std::size_t s = 0; s < kSites; ++s) group[s] = s / 6;
  return criticise(table, group, 2);
}

// 400 data sets of the model itself.
TEST(Criticism, HasTheFalseAlarmRateItStates) {
  Rng rng(2);
  int below_5 = 0, below_1 = 0, site_below_5 = 0, blamed = 0;
  constexpr int kRuns = 400;
  for (int i = 0; i < kRuns; ++i) {
    const Criticism found = judged(rng, data_set(rng));
    below_5 += found.p_value <= 0.05 ? 1 : 0;
    below_1 += found.p_value <= 0.01 ? 1 : 0;
    site_below_5 += found.sites[2].p_value <= 0.05 ? 1 : 0;
    bool any = false;
    for (const SiteCriticism& site : found.sites) any |= site.there && site.q_value <= 0.05;
    blamed += any ? 1 : 0;
  }
  // Expected are 20, 4, 20, and at most 20; each bound is passed once in 5,000 or less often.
  EXPECT_LT(below_5, 37);
  EXPECT_GT(below_5, 6);
  EXPECT_LT(below_1, 13);
  EXPECT_LT(site_below_5, 37);
  EXPECT_GT(site_below_5, 6);
  EXPECT_LT(blamed, 37);
}

TEST(Criticism, BlamesTheSiteThatIsOff) {
  Rng rng(3);
  std::vector<SiteFigures> data = data_set(rng);
  data[7] = {1e-6, 8 * 40 + 80};
  const Criticism found = judged(rng, data);
  EXPECT_DOUBLE_EQ(found.p_value, 1.0 / (1 + kReplicates));
  EXPECT_DOUBLE_EQ(found.sites[7].p_value, 1.0 / (1 + kReplicates));
  for (std::size_t s = 0; s < kSites; ++s) {
    if (!found.sites[s].there) continue;
    EXPECT_EQ(found.sites[s].q_value <= 0.05, s == 7) << s;
  }
}

// Data with less noise than the model has are unusual only as a whole.
TEST(Criticism, SeesThatDataAreTooGood) {
  Rng rng(4);
  std::vector<SiteFigures> data(kSites);
  for (std::size_t s = 0; s < kSites; ++s) data[s] = {0.5, 10.0 * static_cast<double>(s + 1)};
  std::vector<std::vector<SiteFigures>> table;
  for (std::size_t i = 0; i < kReplicates; ++i) table.push_back(data_set(rng));
  table.push_back(data);
  const Criticism found = criticise(table, std::vector<std::size_t>(kSites, 0), 1);
  EXPECT_LE(found.groups[0].p_value, 0.03);
  EXPECT_GT(found.sites[3].p_value, 0.5);
}

TEST(Criticism, KnowsSitesThatAreMissing) {
  Rng rng(5);
  std::vector<SiteFigures> data = data_set(rng);
  data[4] = {kNaN, kNaN};
  EXPECT_FALSE(judged(rng, data).sites[4].there);
  data[4] = {0.3, 50};
  EXPECT_TRUE(judged(rng, data).sites[4].there);
}

TEST(Spread, LeavesOutWhatIsMissing) {
  const Spread spread = spread_of({kNaN, 3, 1, 2, kNaN});
  EXPECT_EQ(spread.q05, 1);
  EXPECT_EQ(spread.q50, 2);
  EXPECT_EQ(spread.q95, 3);
}

}  // namespace
}  // namespace psn::evidence
