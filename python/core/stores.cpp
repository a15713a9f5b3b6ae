// Trace stores: read trace by trace, and what else can be done with them. A process must not have a
// store open twice, so each call opens it for itself.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <vector>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/data/store.h"
#include "psn/services/import_runs.h"
#include "psn/services/stores.h"
#include "python/core/host.h"
#include "python/core/networks.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

using namespace py::literals;  // NOLINT(google-build-using-namespace)
using services::StoreContents;

class TraceReader {
 public:
  explicit TraceReader(std::string path) : path_(std::move(path)) {}

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

// Runs in arrays: of each the first extent are the runs.
services::RunTable table_of(const std::map<std::string, Value>& arrays) {
  services::RunTable table;
  for (const auto& [name, array] : arrays) {
    const Shape shape = array.shape();
    if (shape.empty()) throw InvalidArgument(fmt::format("'{}' has no runs", name));
    const auto runs = static_cast<std::size_t>(shape[0]);
    if (!table.columns.empty() && runs != table.runs) {
      throw InvalidArgument(fmt::format("'{}' has {} runs, '{}' has {}", name, runs,
                                        table.columns[0].name, table.runs));
    }
    table.runs = runs;
    services::RunColumn column{name, {shape.begin() + 1, shape.end()}, {}};
    for (const double x : array) column.values.push_back(std::isfinite(x) ? x : kNaN);
    table.columns.push_back(std::move(column));
  }
  return table;
}

void bind_imports(py::module_& module) {
  using services::ImportJob;
  using services::ImportResult;
  py::class_<ImportJob>(module, "ImportJob")
      .def(py::init())
      .def_readwrite("table", &ImportJob::table)
      .def_readwrite("observed", &ImportJob::observed)
      .def_readwrite("store", &ImportJob::store)
      .def("take", [](ImportJob& job,
                      const std::map<std::string, Value>& arrays) { job.runs = table_of(arrays); })
      .def("draw",
           [](ImportJob& job, const std::string& name, const Distribution& prior) {
             job.latents.push_back({name, prior});
           })
      .def("draw", [](ImportJob& job, const std::string& name, const std::string& prior) {
        job.latents.push_back(services::prior_of(name + "=" + prior));
      });
  py::class_<ImportResult>(module, "ImportResult")
      .def_readonly("runs", &ImportResult::runs)
      .def_readonly("traces", &ImportResult::traces)
      .def_readonly("failed", &ImportResult::failed)
      .def_readonly("missing", &ImportResult::missing)
      .def_readonly("unused", &ImportResult::unused);
  module.def("import_runs", services::import_runs, "job"_a,
             py::call_guard<py::gil_scoped_release>());
}

}  // namespace

void bind_stores(py::module_& module) {
  bind_entries(module);
  py::class_<TraceReader>(module, "TraceReader")
      .def(py::init<std::string>())
      .def("size", &TraceReader::size)
      .def("read", &TraceReader::read, "first"_a, "count"_a, "step"_a = 1);
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
  using services::ExportOptions;
  py::class_<ExportOptions>(module, "TraceExport")
      .def(py::init())
      .def_readwrite("store", &ExportOptions::store)
      .def_readwrite("out", &ExportOptions::out)
      .def_readwrite("queries", &ExportOptions::queries)
      .def_readwrite("first", &ExportOptions::first)
      .def_readwrite("count", &ExportOptions::count);
  module.def("export_traces", services::export_traces, "job"_a,
             py::call_guard<py::gil_scoped_release>());
  bind_imports(module);
}

}  // namespace psn::python
