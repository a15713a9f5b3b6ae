// Trace stores: read trace by trace, and what else can be done with them. A process must not have a
// store open twice, so each call opens it for itself.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "psn/data/store.h"
#include "psn/services/stores.h"
#include "python/core/host.h"
#include "python/core/networks.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

using namespace py::literals;  // NOLINT(google-build-using-namespace)
using services::StoreContents;

class StoredTraces {
 public:
  explicit StoredTraces(std::string path) : path_(std::move(path)) {}

  std::uint64_t size() const {
    const py::gil_scoped_release free;
    return data::StoreReader(path_, addresses_).size();
  }
  std::vector<StoredTrace> read(std::uint64_t first, std::uint64_t count,
                                std::uint64_t step) const {
    const py::gil_scoped_release free;
    data::StoreReader reader(path_, addresses_);
    std::vector<StoredTrace> traces;
    for (std::uint64_t i = 0; i < count; ++i) {
      traces.push_back({addresses_, reader.read(first + i * step)});
    }
    return traces;
  }

 private:
  const std::string path_;
  const std::shared_ptr<AddressTable> addresses_ = std::make_shared<AddressTable>();
};

void bind_entries(py::module_& module) {
  py::class_<Entry>(module, "Entry")
      .def_property_readonly("role", [](const Entry& entry) { return role_name(entry.role); })
      .def_property_readonly("address", [](const Entry& entry) { return entry.address->text; })
      .def_property_readonly("name", [](const Entry& entry) { return entry.address->name(); })
      .def_readonly("value", &Entry::value)
      .def_readonly("given", &Entry::given)
      .def_readonly("log_prob", &Entry::log_prob)
      .def_property_readonly("distribution", [](const Entry& entry) {
        return entry.distribution ? entry.distribution->text() : "";
      });
  py::class_<StoredTrace>(module, "Trace")
      .def_property_readonly(
          "steps",
          [](const py::object& self) {
            py::list steps;
            for (const Entry& entry : self.cast<const StoredTrace&>().trace.entries) {
              steps.append(py::cast(&entry, py::return_value_policy::reference_internal, self));
            }
            return steps;
          })
      .def_property_readonly("result", [](const StoredTrace& t) { return t.trace.result; })
      .def_property_readonly("log_joint", [](const StoredTrace& t) { return t.trace.log_joint; })
      .def("__getitem__",
           [](const StoredTrace& t, const std::string& name) { return t.trace[name]; })
      .def("__len__", [](const StoredTrace& t) { return t.trace.length(); });
}

}  // namespace

void bind_stores(py::module_& module) {
  bind_entries(module);
  py::class_<StoredTraces>(module, "TraceReader")
      .def(py::init<std::string>())
      .def("size", &StoredTraces::size)
      .def("read", &StoredTraces::read, "first"_a, "count"_a, "step"_a = 1);
  using services::LengthSummary;
  py::class_<LengthSummary>(module, "LengthSummary")
      .def_readonly("mean", &LengthSummary::mean)
      .def_readonly("min", &LengthSummary::min)
      .def_readonly("median", &LengthSummary::median)
      .def_readonly("max", &LengthSummary::max);
  py::class_<StoreContents::AddressUse>(module, "AddressUse")
      .def_readonly("address", &StoreContents::AddressUse::address)
      .def_readonly("name", &StoreContents::AddressUse::name)
      .def_readonly("per_trace", &StoreContents::AddressUse::per_trace);
  py::class_<StoreContents>(module, "StoreContents")
      .def_readonly("traces", &StoreContents::traces)
      .def_readonly("bytes", &StoreContents::bytes)
      .def_readonly("length", &StoreContents::length)
      .def_readonly("addresses", &StoreContents::addresses)
      .def_property_readonly("origins", [](const StoreContents& contents) {
        py::list origins;
        for (const data::Origin& origin : contents.origins) {
          origins.append(py::make_tuple(origin.model, origin.seed));
        }
        return origins;
      });
  module.def("store_contents", services::store_contents, "store"_a, "sampled"_a = 1000,
             py::call_guard<py::gil_scoped_release>());
  module.def("verify_store", [](const std::string& store, PythonHost& host) {
    return host.run([&] { return services::verify_store(store, host); }).traces;
  });
  module.def("merge_stores",
             [](const std::vector<std::string>& stores, const std::string& out, PythonHost& host) {
               return host.run([&] { return services::merge_stores(stores, out, host); });
             });
  module.def("export_traces", [](const std::string& store, const std::string& out,
                                 std::vector<std::string> queries) {
    const py::gil_scoped_release free;
    return services::export_traces({.store = store, .out = out, .queries = std::move(queries)});
  });
}

}  // namespace psn::python
