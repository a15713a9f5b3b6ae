// Is this data set like those of the model, and if not, where? By figures of each of its sites that
// some procedure came by, and the same procedure's figures of data sets drawn from the model.
//
// If the data are the model's, they are one more of these: whatever the procedure is, and however
// good, ranks among them are exact p-values (Barnard 1963). What is judged, without looking which
// data set is the one: a site by the worse of its two figures, each in units in which it is about
// as large anywhere; all sites of one name by their mean surprise, which may be too small as well.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace psn::evidence {

struct SiteFigures {
  double pit;  // place of the value in its prediction; NaN: the data set does not have the site
  double surprise;  // minus log density
};

struct Spread {
  double q05 = 0, q50 = 0, q95 = 0;
};
Spread spread_of(std::vector<double> values);  // without NaN

struct SiteCriticism {
  bool there = false;
  double badness = 0;
  double p_value = 1;  // among data sets that have it
  double q_value = 1;  // of Benjamini and Hochberg, by the ranks among all sites of all data sets
  double surprise = 0;
  Spread usual;
};

struct Criticism {
  double p_value = 1;  // of the worst of all sites and groups
  std::vector<SiteCriticism> sites, groups;
};

// A row for each data set, that which is judged last; `group_of`: of each site, numbered from 0.
Criticism criticise(std::span<const std::vector<SiteFigures>> datasets,
                    const std::vector<std::size_t>& group_of, std::size_t groups);

}  // namespace psn::evidence
