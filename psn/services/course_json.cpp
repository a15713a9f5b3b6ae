#include "psn/services/course_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"

namespace psn::services {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity.
Json number_json(double x) {
  if (std::isfinite(x)) return x;
  return x > 0 ? "inf" : "-inf";
}

double number(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  const double infinity = std::numeric_limits<double>::infinity();
  return json.get<std::string>() == "inf" ? infinity : -infinity;
}

Json distribution_json(const Distribution& distribution) {
  Json json{{"family", family_name(distribution.family())}, {"parameters", Json::array()}};
  for (const Value& parameter : parameters_of(distribution)) {
    Json numbers = Json::array();
    for (const double x : parameter) numbers.push_back(number_json(x));
    json["parameters"].push_back({{"shape", parameter.shape()}, {"numbers", std::move(numbers)}});
  }
  for (const Distribution& component : components_of(distribution)) {
    json["components"].push_back(distribution_json(component));
  }
  return json;
}

Distribution read_distribution(const Json& json) {
  const auto family = find_family(std::string_view(json.at("family").get<std::string>()));
  if (!family || json.at("parameters").size() != info(*family).parameters.size()) {
    throw DataError("a distribution that there is not");
  }
  std::vector<Value> parameters;
  for (const Json& parameter : json.at("parameters")) {
    const auto shape = parameter.at("shape").get<Shape>();
    std::vector<double> numbers;
    for (const Json& x : parameter.at("numbers")) numbers.push_back(number(x));
    if (numbers.size() != element_count(shape)) throw DataError("a parameter of another shape");
    parameters.push_back(shape.empty() ? Value(numbers[0]) : Value(std::move(numbers), shape));
  }
  std::vector<Distribution> components;
  if (json.contains("components")) {
    for (const Json& part : json.at("components")) components.push_back(read_distribution(part));
  }
  Distribution result = make_distribution(*family, std::move(parameters), std::move(components));
  if (!result.valid()) throw DataError(*result.problem());
  return result;
}

CourseStep read_step(const Json& json) {
  CourseStep step{json.at("scope").get<std::string>(),
                  json.at("base").get<std::string>(),
                  json.at("name").get<std::string>(),
                  json.at("type").get<std::string>(),
                  std::nullopt,
                  json.at("instance").get<std::uint32_t>(),
                  read_distribution(json.at("distribution"))};
  if (json.contains("index")) step.index = json.at("index").get<std::int64_t>();
  if (step.type != step.distribution.type_name()) throw DataError("a choice of another type");
  return step;
}

}  // namespace

Json course_json(const Course& course) {
  if (!course.problem.empty()) return {{"problem", course.problem}};
  Json steps = Json::array();
  for (const CourseStep& step : course.steps) {
    Json json{{"scope", step.scope}, {"base", step.base}, {"name", step.name}, {"type", step.type}};
    if (step.index) json["index"] = *step.index;
    json["instance"] = step.instance;
    json["distribution"] = distribution_json(step.distribution);
    steps.push_back(std::move(json));
  }
  return {{"steps", std::move(steps)}};
}

std::optional<Course> course_in(const std::string& history) try {
  const Json reports = Json::parse(history);
  if (reports.empty() || !reports.back().contains("course")) return std::nullopt;
  const Json& json = reports.back().at("course");
  Course course;
  if (json.contains("problem")) {
    course.problem = json.at("problem").get<std::string>();
  } else {
    for (const Json& step : json.at("steps")) course.steps.push_back(read_step(step));
  }
  return course;
} catch (const Json::exception&) {
  return std::nullopt;  // a history may be anything
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace psn::services
