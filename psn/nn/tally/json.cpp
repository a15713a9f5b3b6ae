#include "psn/nn/tally/json.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "psn/base/text.h"
#include "psn/nn/tally/fit.h"

namespace psn {

using nlohmann::json;

namespace {

// In the order of SourceKind, TallyKind, Measure and Form.
constexpr std::array<const char*, kSourceKinds> kSourceNames{"site", "pair", "steps", "since",
                                                             "windows"};
constexpr std::array<const char*, 3> kKindNames{"visits", "categories", "number"};
constexpr std::array<const char*, kMeasures> kMeasureNames{
    "visits", "seen", "count", "difference", "sum", "last", "highest", "lowest", "fall", "rise"};
constexpr std::array<const char*, kForms> kFormNames{"logarithm", "linear", "cosine", "sine",
                                                     "ramp"};

template <class Enum, std::size_t n>
Enum read_name(const JsonReader& reader, const json& object, const char* key,
               const std::array<const char*, n>& names) {
  const auto name = reader.get<std::string>(object, key);
  const auto* found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) reader.fail(fmt::format("a tally has the {} '{}'", key, name));
  return static_cast<Enum>(found - names.begin());
}

template <std::size_t n, class Enum>
const char* name_of(const std::array<const char*, n>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

bool has(const TallyType& type, const TallyInput& input) {
  switch (input.measure) {
    case Measure::kVisits:
    case Measure::kSeen:
      return input.which == 0;
    case Measure::kCount:
      return input.which < type.categories;
    case Measure::kDifference:
      return input.which < 1u << 2 * kMostTalliedCategories && type.categories > 0;
    default:
      return type.kind == TallyKind::kNumber && input.which == 0;
  }
}

// Waves are of whole numbers.
bool has_its_form(const TallyInput& input) {
  if (!std::isfinite(input.location) || !std::isfinite(input.scale) || !(input.scale > 0)) {
    return false;
  }
  if (input.form != Form::kCosine && input.form != Form::kSine) return true;
  constexpr std::array<double, 6> kPeriods{2, 4, 8, 16, 32, 64};
  return input.measure <= Measure::kDifference && input.location == 0 &&
         std::find(kPeriods.begin(), kPeriods.end(), input.scale) != kPeriods.end();
}

TallyInput read_input(const JsonReader& reader, const json& object, const TallyType& type) {
  TallyInput input;
  input.measure = read_name<Measure>(reader, object, "measure", kMeasureNames);
  input.which = reader.get<std::uint32_t>(object, "which");
  input.form = read_name<Form>(reader, object, "form", kFormNames);
  input.location = reader.get<double>(object, "location");
  input.scale = reader.get<double>(object, "scale");
  if (!has(type, input) || !has_its_form(input)) reader.fail("an input of its tally is impossible");
  return input;
}

// Which sites and what else a kind of source has.
bool is_complete(const TallySource& source) {
  const bool other = source.kind != SourceKind::kSite, clock = source.kind == SourceKind::kWindows;
  const bool step = clock || source.kind == SourceKind::kSteps;
  if (source.site.empty() || source.other.empty() == other || source.clock.empty() == clock) {
    return false;
  }
  if (!std::isfinite(source.step) || (step ? !(source.step > 0) : source.step != 0)) return false;
  const bool number = source.kind == SourceKind::kPair || source.kind == SourceKind::kSteps;
  return (!number || source.type.kind == TallyKind::kNumber) &&
         (!clock || source.type.kind == TallyKind::kCategories);
}

const json& list(const JsonReader& reader, const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_array()) {
    reader.fail(fmt::format("'{}' is not a list", key));
  }
  return object[key];
}

}  // namespace

json to_json(const TallyType& type) {
  return {{"kind", name_of(kKindNames, type.kind)}, {"categories", type.categories}};
}

TallyType read_tally_type(const JsonReader& reader, const json& object) {
  const TallyType type{read_name<TallyKind>(reader, object, "kind", kKindNames),
                       reader.get<std::uint32_t>(object, "categories")};
  if (type.categories > kMostTalliedCategories ||
      (type.categories > 0) != (type.kind == TallyKind::kCategories)) {
    reader.fail("a tally has an impossible number of categories");
  }
  return type;
}

json to_json(const TallyPlan& plan) {
  json sources = json::array();
  for (const TallySource& source : plan.sources) {
    json entry = to_json(source.type);
    entry["of"] = name_of(kSourceNames, source.kind);
    entry["site"] = source.site;
    if (!source.other.empty()) entry["other"] = source.other;
    if (!source.clock.empty()) entry["clock"] = source.clock;
    if (source.step > 0) entry["step"] = source.step;
    entry["inputs"] = json::array();
    for (const TallyInput& input : source.inputs) {
      entry["inputs"].push_back({{"measure", name_of(kMeasureNames, input.measure)},
                                 {"which", input.which},
                                 {"form", name_of(kFormNames, input.form)},
                                 {"location", input.location},
                                 {"scale", input.scale}});
    }
    sources.push_back(std::move(entry));
  }
  return {{"sources", std::move(sources)}};
}

TallyPlan read_tally(const JsonReader& reader, const json& object) {
  TallyPlan plan;
  for (const json& entry : list(reader, object, "sources")) {
    TallySource& source = plan.sources.emplace_back();
    source.site = reader.get<std::string>(entry, "site");
    source.kind = read_name<SourceKind>(reader, entry, "of", kSourceNames);
    if (entry.contains("other")) source.other = reader.get<std::string>(entry, "other");
    if (entry.contains("clock")) source.clock = reader.get<std::string>(entry, "clock");
    if (entry.contains("step")) source.step = reader.get<double>(entry, "step");
    if (!is_printable(source.site) || !is_printable(source.other) || !is_printable(source.clock)) {
      reader.fail("a site of its tally is not printable UTF-8");
    }
    source.type = read_tally_type(reader, entry);
    if (!is_complete(source)) reader.fail("a source of its tally is impossible");
    for (const json& input : list(reader, entry, "inputs")) {
      source.inputs.push_back(read_input(reader, input, source.type));
    }
    if (source.inputs.empty()) reader.fail("a source of its tally has no inputs");
  }
  if (plan.inputs() > kMostTallyInputs) reader.fail("its tally has too many inputs");
  return plan;
}

}  // namespace psn
