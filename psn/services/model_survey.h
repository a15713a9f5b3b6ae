// ModelSurvey: a few forward runs before the work, to learn what a model calls its variables, and
// to meet a broken model with one simulation under way instead of many.
//
// It makes 100 runs, and goes on to 10,000 while a name that the user gave has not come up; slow
// simulators get fewer, since it stops after ten seconds. What fails then does not count later.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "psn/core/ensemble.h"
#include "psn/core/observations.h"
#include "psn/core/posterior.h"
#include "psn/core/run.h"
#include "psn/services/observation_check.h"

namespace psn::services {

class ModelSurvey {
 public:
  // Of `options` the greatest length, the monitor and what is held count.
  ModelSurvey(Simulator& simulator, const Parallelism& parallelism, const RunOptions& options,
              const std::vector<std::string>& wanted_names = {});

  // Throws InvalidArgument for an observation that no site takes, listing the model's, and for one
  // that cannot be meant; its name must be among the wanted ones.
  void check(const Observations& observations) const;
  // Likewise for one that the program computes, and has no density of.
  void check_densities(const Observations& observations) const;
  // Likewise for what is to be held: only latents can be.
  void check_held(const Observations& held) const;
  // Throws InvalidArgument for a name that did not come up, of a variable or site; `observed`: of
  // an observation. `field`: where it is from, as messages say it.
  void require(const std::string& name, const std::string& field, bool observed = false) const;
  // For names and addresses that the user asked for, which may be several with
  // commas between them; throws InvalidArgument likewise. The name of a list is all of it; "result"
  // is what the program returns, unless a variable is called so.
  std::vector<Query> queries(const std::vector<std::string>& names,
                             const std::string& field = "`queries`") const;
  // Every named latent and tag (and observation) that came up in all runs, always of one shape;
  // by address if the model names nothing.
  std::vector<Query> default_queries(bool with_observations = false) const;

 private:
  struct Seen {
    Role role;
    Shape shape;
    std::string list;  // see Variable
    std::optional<std::int64_t> place;
    std::uint64_t traces = 0;
    std::uint64_t last_trace = ~std::uint64_t{0};
    std::size_t order;  // of first appearance
    bool shape_varies = false;
    bool named = true;
    bool asked_by_address = false;  // besides its entry by name
  };
  void add(std::uint64_t index, const Trace& trace);
  Seen& record(const std::string& key, const Entry& entry, std::uint64_t index);
  bool is_wanted(const Address& address) const;
  bool takes(const std::string& name, const Value& value) const;
  bool knows(const std::string& name, bool observed = false) const;
  std::vector<std::string> parts(const std::string& argument) const;
  Query query(const std::string& name, const std::string& field) const;
  [[noreturn]] void fail(const std::string& name, const std::string& field,
                         bool observed = false) const;
  std::vector<std::string> names(bool observed) const;
  std::vector<std::string> nameable(bool observed) const;
  std::vector<std::string> members(const std::string& list) const;
  std::string listed(bool observed) const;

  std::set<std::string> wanted_;
  std::map<std::string, Seen> seen_;        // by name, or by address if unnamed or asked for
  std::vector<std::vector<Visit>> visits_;  // to what is wanted, of the first runs
  std::optional<Shape> result_;             // of what the program returns; none: nothing
  std::uint64_t traces_ = 0;
};

}  // namespace psn::services
