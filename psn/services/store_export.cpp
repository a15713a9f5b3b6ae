#include "psn/services/stores.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/core/posterior.h"
#include "psn/data/store.h"
#include "psn/io/npz.h"
#include "psn/services/names.h"

namespace psn::services {
namespace {

// Names in the order of the store; of names and addresses the shape, if it is always the same; of
// lists the names, by place.
struct Names {
  std::vector<std::string> order;
  std::map<std::string, std::optional<Shape>> shape;
  std::map<std::string, std::map<std::int64_t, std::string>> lists;

  // A name or an address, or all of a list.
  std::vector<std::string> meant(const std::string& name) const {
    const auto list = lists.find(name);
    if (list == lists.end() || shape.contains(name)) return {name};
    std::vector<std::string> result;
    for (const auto& [place, member] : list->second) result.push_back(member);
    return result;
  }
};

Names names_in(const data::Dictionary& dictionary) {
  Names names;
  for (const data::Form& form : dictionary.forms()) {
    if (!form.address() || form.role() == Role::kFactor) continue;
    const std::string& name = form.address()->name();
    names.shape.try_emplace(form.address()->text, form.shape());
    if (name.empty()) continue;
    const auto [known, is_new] = names.shape.try_emplace(name, form.shape());
    if (is_new) names.order.push_back(name);
    const Variable& variable = *form.address()->variable;
    if (variable.place) names.lists[variable.list].emplace(*variable.place, name);
    if (known->second != form.shape()) known->second.reset();
  }
  return names;
}

std::vector<Query> queries_of(const data::StoreReader& reader,
                              const std::vector<std::string>& wanted) {
  const Names names = names_in(reader.dictionary());
  std::vector<Query> queries;
  std::vector<std::string> asked;
  for (const std::string& argument : wanted) {
    for (const std::string& name : split_names(argument)) {
      for (std::string& meant : names.meant(name)) asked.push_back(std::move(meant));
    }
  }
  for (const std::string& name : asked.empty() ? names.order : asked) {
    const auto found = names.shape.find(name);
    if (found == names.shape.end()) {
      throw InvalidArgument(fmt::format("`queries`: '{}' has nothing named '{}'{}", reader.path(),
                                        name, suggestion(name, names.order)));
    }
    if (!found->second && !wanted.empty()) {
      throw InvalidArgument(fmt::format("`queries`: '{}' is not always of one shape", name));
    }
    if (found->second) queries.push_back({name, *found->second});
  }
  if (queries.empty()) {
    throw InvalidArgument(fmt::format("'{}' has no named variable to export", reader.path()));
  }
  return queries;
}

}  // namespace

void write_npz(const Posterior& table, const std::string& path, bool weights) {
  NpzWriter file;
  const auto rows = static_cast<std::int64_t>(table.size());
  if (weights) file.add("log_weight", table.log_weights(), {rows});
  for (const std::string& name : table.names()) {
    const Column& column = table.column(name);
    Shape shape = column.shape;
    shape.insert(shape.begin(), rows);
    file.add(name, column.data, shape);
  }
  file.save(path);
}

std::uint64_t export_traces(const ExportOptions& options) {
  data::StoreReader reader(options.store);
  const bool npz = options.out.ends_with(".npz");
  if (!npz && !options.out.ends_with(".csv")) {
    throw InvalidArgument(fmt::format("`out` '{}' ends neither in .csv nor in .npz", options.out));
  }
  if (options.first >= reader.size()) {
    throw InvalidArgument(fmt::format("'{}' has {} traces", reader.path(), reader.size()));
  }
  const std::uint64_t rest = reader.size() - options.first;
  const std::uint64_t count = options.count ? std::min(options.count, rest) : rest;
  const std::vector<Query> queries = queries_of(reader, options.queries);
  std::uint64_t width = 1;
  for (const Query& query : queries) width += element_count(query.shape);
  constexpr std::uint64_t kMaxNumbers = std::uint64_t{1} << 29;
  if (count > kMaxNumbers / width) {
    throw InvalidArgument(
        fmt::format("{} traces of {} numbers are too many for one file; take a "
                    "part of them (`first`), or fewer (`queries`)",
                    count, width - 1));
  }
  Posterior table(queries, count);
  for (std::uint64_t i = 0; i < count; ++i) table.put(i, reader.read(options.first + i), 0);
  npz ? write_npz(table, options.out, false) : table.write_csv(options.out);
  return count;
}

}  // namespace psn::services
