// psn._core: what of psn the package in python/psn is made of.
#include <pybind11/pybind11.h>

#include "python/core/errors.h"
#include "python/core/families.h"
#include "python/core/networks.h"
#include "python/core/program.h"
#include "python/core/recipe.h"
#include "python/core/services.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled part of psn; the package psn is what to use.";
  psn::python::bind_errors(module);
  psn::python::bind_families(module);
  psn::python::bind_choices(module);
  psn::python::bind_recipes(module);
  psn::python::bind_networks(module);
  psn::python::bind_stores(module);
  psn::python::bind_jobs(module);
  psn::python::bind_results(module);
  psn::python::bind_evidence(module);
  psn::python::bind_services(module);
  psn::python::bind_reading(module);
}
