// Posterior on disk: its own file, CSV and JSON.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"
#include "psn/core/posterior.h"
#include "psn/io/atomic_file.h"
#include "psn/io/csv.h"
#include "psn/io/tensor_file.h"

namespace psn {
namespace {

constexpr int kVersion = 1;
constexpr const char* kKind = "psn posterior";
constexpr const char* kPrefix = "column/";

}  // namespace

void Posterior::save(const std::string& path) const {
  write_file_atomically(path, serialize());
}

Posterior Posterior::load(const std::string& path) {
  return parse(read_file(path), path);
}

std::string Posterior::serialize() const {
  return to_file().serialize();
}

Posterior Posterior::parse(const std::string& bytes, const std::string& label) {
  return from_file(TensorFile::parse(bytes, label, kKind, kVersion), label);
}

TensorFile Posterior::to_file() const {
  TensorFile file{.kind = kKind, .version = kVersion, .metadata = {}, .tensors = {}};
  file.metadata["chains"] = std::to_string(chains_);
  file.metadata["columns"] = nlohmann::json(names()).dump();
  const auto rows = static_cast<std::int64_t>(size());
  file.tensors["log_weights"] = Tensor::from(log_weights_, {rows});
  for (const Column& column : columns_) {
    Shape shape = column.shape;
    shape.insert(shape.begin(), rows);
    file.tensors[kPrefix + column.name] = Tensor::from(column.data, std::move(shape));
  }
  return file;
}

Posterior Posterior::from_file(const TensorFile& file, const std::string& label) {
  const auto weights = file.tensors.find("log_weights");
  if (weights == file.tensors.end()) throw DataError(fmt::format("'{}': no log_weights", label));
  Posterior posterior({}, 0);
  posterior.log_weights_ = weights->second.doubles();
  try {
    posterior.chains_ = std::stoul(file.metadata.at("chains"));
    if (posterior.chains_ > 0 && posterior.size() % posterior.chains_ != 0) {
      throw DataError("chains of unequal length");
    }
    for (const std::string name : nlohmann::json::parse(file.metadata.at("columns"))) {
      const Tensor& tensor = file.tensors.at(kPrefix + name);
      if (tensor.shape.empty()) throw DataError("a column without rows");
      const Shape shape(tensor.shape.begin() + 1, tensor.shape.end());
      posterior.add_column({name, shape}, tensor.doubles());
      if (posterior.columns_.back().data.size() != posterior.size() * element_count(shape)) {
        throw DataError("columns of unequal length");
      }
    }
  } catch (const std::exception& error) {
    throw DataError(fmt::format("'{}': not a posterior ({})", label, error.what()));
  }
  return posterior;
}

void Posterior::write_csv(const std::string& path) const {
  std::string text = chains_ > 0 ? "chain,log_weight" : "log_weight";
  const auto out = std::back_inserter(text);
  for (const Column& column : columns_) {
    const std::size_t width = column.width();
    for (std::size_t k = 0; k < width; ++k) {
      text += ',';
      text += csv_cell(column.shape.empty() ? column.name : fmt::format("{}[{}]", column.name, k));
    }
  }
  text += '\n';
  for (std::size_t i = 0; i < size(); ++i) {
    if (chains_ > 0) fmt::format_to(out, "{},", i / (size() / chains_));
    fmt::format_to(out, "{}", log_weights_[i]);
    for (const Column& column : columns_) {
      const std::size_t width = column.width();
      for (std::size_t k = 0; k < width; ++k) {
        const double x = column.data[i * width + k];
        std::isnan(x) ? fmt::format_to(out, ",") : fmt::format_to(out, ",{}", x);
      }
    }
    text += '\n';
  }
  write_file_atomically(path, text);
}

std::string Posterior::to_json() const {
  nlohmann::ordered_json json;
  json["size"] = size();
  json["chains"] = chains_;
  json["log_weights"] = log_weights_;
  // Put behind the others without looking for one of its name, as [] would.
  auto& columns = json["columns"] = nlohmann::ordered_json::object();
  for (const Column& column : columns_) {
    columns.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(
        column.name, nlohmann::ordered_json{{"shape", column.shape}, {"data", column.data}});
  }
  return json.dump();  // a quantity that does not occur (NaN) and a weight of zero (-inf) are null
}

}  // namespace psn
