// What is in a network's file, and the density of traces under it.
#include "python/core/networks.h"

#include <pybind11/numpy.h>

#include <vector>

#include "psn/base/error.h"
#include "psn/nn/network_file.h"
#include "psn/nn/run/evaluate.h"
#include "psn/services/inspect.h"
#include "psn/services/train.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

using namespace py::literals;  // NOLINT(google-build-using-namespace)
using services::InspectedNetwork;
using services::InspectedNode;

// Of each trace; -inf for one that the surrogate cannot make.
py::array log_prob_of(const std::string& file, const std::vector<const StoredTrace*>& stored,
                      bool expand) {
  std::vector<Trace> traces;
  for (const StoredTrace* one : stored) traces.push_back(one->trace);
  std::vector<double> result;
  {
    const py::gil_scoped_release free;
    auto network = load_network(file).network;
    if (network->infers()) {
      throw InvalidArgument("'" + file + "' is an inference network: it has no density of traces");
    }
    result = log_prob(std::make_shared<const CompiledNetwork>(std::move(network)), traces,
                      expand ? UnknownEvaluation::kExpand : UnknownEvaluation::kRenormalise);
  }
  return py::array_t<double>(static_cast<py::ssize_t>(result.size()), result.data());
}

}  // namespace

void bind_networks(py::module_& module) {
  py::class_<Network, std::shared_ptr<Network>>(module, "TrainedNetwork");
  module.def("load_trained", services::load_trained, "path"_a, "purpose"_a);
  py::class_<InspectedNode>(module, "Node")
      .def_readonly("address", &InspectedNode::address)
      .def_readonly("name", &InspectedNode::name)
      .def_readonly("choice", &InspectedNode::choice)
      .def_readonly("family", &InspectedNode::family)
      .def_readonly("shape", &InspectedNode::shape)
      .def_readonly("control", &InspectedNode::control)
      .def_readonly("categories", &InspectedNode::categories)
      .def_readonly("learned", &InspectedNode::learned)
      .def_property_readonly("successors",
                             [](const InspectedNode& node) {
                               std::vector<std::pair<NodeId, std::string>> all;
                               for (const auto& [id, index] : node.successors) {
                                 all.emplace_back(id, index);
                               }
                               return all;
                             })
      .def_property_readonly("role", [](const InspectedNode& node) { return role_name(node.role); })
      .def("__repr__", [](const InspectedNode& node) { return "<psn.Node " + node.address + ">"; });
  py::class_<InspectedNetwork>(module, "InspectedNetwork")
      .def_property_readonly(
          "config", [](const InspectedNetwork& network) { return config_json(network.config); })
      .def_property_readonly("purpose",
                             [](const InspectedNetwork& network) { return network.config.purpose; })
      .def_readonly("seed", &InspectedNetwork::seed)
      .def_readonly("updates", &InspectedNetwork::updates)
      .def_readonly("optimizer", &InspectedNetwork::optimizer)
      .def_readonly("parameters", &InspectedNetwork::parameters)
      .def_readonly("transitions", &InspectedNetwork::transitions)
      .def_readonly("nodes", &InspectedNetwork::nodes)
      .def_readonly("history", &InspectedNetwork::history);
  module.def("inspect", services::inspect, "path"_a);
  module.def("log_prob", log_prob_of, "path"_a, "traces"_a, "expand"_a = false);
}

}  // namespace psn::python
