// The families as Python functions that make distributions, from the list of psn/core/families.
#include "python/core/families.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "psn/base/error.h"
#include "psn/core/distribution.h"
#include "python/core/arguments.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

using namespace py::literals;  // NOLINT(google-build-using-namespace)

// Called as Python calls it: programs make a distribution at every choice.
template <class D, std::size_t... K>
Distribution make(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords,
                  std::index_sequence<K...> /*parameters*/) {
  static const Names<D::kArity> names(D::kName.data(), D::kArity, D::kArity,
                                      {D::kParameters[K].name.data()...});
  const auto given = names.read(arguments, count, keywords);
  if constexpr (IsJoint<D>)
    return D(typename D::Values{value_of(given[K])...});
  else
    return D(value_of(given[K])...);
}

template <class D>
py::object make_family(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  return py::cast(make<D>(arguments, count, keywords, std::make_index_sequence<D::kArity>()));
}

// A function of the family's parameters, by their names.
template <class D>
void bind_family(py::module_& module) {
  static const std::string text = [] {
    std::string names;
    for (const family::Parameter& parameter : D::kParameters) {
      names += (names.empty() ? "" : ", ") + std::string(parameter.name);
    }
    return fmt::format("{}({})\n--\n\nA psn.Distribution.", D::kName, names);
  }();
  add_fast_function<make_family<D>>(module, D::kName.data(), text.c_str());
}

Distribution multivariate_normal(Value mean, const std::optional<Value>& covariance,
                                 const std::optional<Value>& cholesky) {
  if (covariance.has_value() == cholesky.has_value()) {
    throw InvalidArgument("MultivariateNormal: give the covariance or its cholesky, one of both");
  }
  if (covariance) return MultivariateNormal(std::move(mean), *covariance);
  return MultivariateNormal::from_cholesky(std::move(mean), *cholesky);
}

template <class D>
void bind_one(py::module_& module) {
  if constexpr (std::is_same_v<D, Mixture>) {
    module.def(
        "Mixture",
        [](Value weights, std::vector<Distribution> components) -> Distribution {
          return Mixture(std::move(weights), std::move(components));
        },
        "weights"_a, "components"_a);
  } else if constexpr (std::is_same_v<D, MultivariateNormal>) {
    module.def("MultivariateNormal", multivariate_normal, "mean"_a, "covariance"_a = py::none(),
               "cholesky"_a = py::none());
  } else {
    bind_family<D>(module);
  }
}

template <class... D>
void bind_all(py::module_& module, const std::variant<D...>* /*families*/) {
  (bind_one<D>(module), ...);
}

void require_valid(const Distribution& distribution) {
  if (const auto problem = distribution.problem()) throw InvalidArgument(*problem);
}

// A draw of its own, for a look at it.
py::object draw(const Distribution& distribution, std::uint64_t seed) {
  require_valid(distribution);
  Rng rng(seed, 0);
  return from_value(distribution.draw(rng), distribution.discrete());
}

template <class Result>
auto checked(Result (Distribution::*of)() const) {
  return [of](const Distribution& distribution) {
    require_valid(distribution);
    return (distribution.*of)();
  };
}

}  // namespace

void bind_families(py::module_& module) {
  py::class_<Distribution>(module, "Distribution", "What a random choice is drawn from.")
      .def("__repr__", &Distribution::text)
      .def_property_readonly("family",
                             [](const Distribution& d) { return family_name(d.family()); })
      .def_property_readonly("shape",
                             [](const Distribution& d) { return py::tuple(py::cast(d.shape())); })
      .def_property_readonly("discrete", checked(&Distribution::discrete))
      .def_property_readonly("mean", checked(&Distribution::mean))
      .def_property_readonly("variance", checked(&Distribution::variance))
      .def(
          "log_prob",
          [](const Distribution& d, const Value& x) {
            require_valid(d);
            return d.log_prob(x);
          },
          "x"_a)
      .def("draw", draw, "seed"_a = 0, "A value, for a look at it; programs use psn.sample().");
  bind_all(module, static_cast<const Families*>(nullptr));
  py::list names;
  for (const FamilyInfo& family : families()) names.append(family.name);
  module.attr("families") = py::tuple(names);
}

}  // namespace psn::python
