// Files of networks: bit for bit, and hostile ones.
#include "psn/nn/network_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"
#include "psn/io/tensor_file.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using namespace test;
using nlohmann::json;

NetworkFile example(bool optimizer = false, Addressing addressing = Addressing::kInstance,
                    std::string_view core = "lstm") {
  NetworkConfig config = small_config(addressing, 2, std::string(core));
  config.variable_embedding["gamma"] = {3, 5};
  const auto network = network_of(all_families(), {.config = config, .traces = 50});
  network->parameters().step = 12;
  network->parameters().second_moments(3)[0] = 0.5f;
  network->parameters().first_moments(3)[1] = -0.5f;
  network->add_successors(3, {{3}});
  return {network, R"({"loss": [1, 2]})", optimizer};
}

void expect_equal(Network& a, Network& b, bool optimizer) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_EQ(a.seed(), b.seed());
  ASSERT_EQ(a.parameters().step, b.parameters().step);
  ASSERT_EQ(config_json(a.config()), config_json(b.config()));
  for (NodeId id = 0; id < a.size(); ++id) {
    const Node &x = a.node(id), &y = b.node(id);
    EXPECT_EQ(x.text, y.text);
    EXPECT_EQ(x.scope + x.base + x.name + x.site_name + x.type,
              y.scope + y.base + y.name + y.site_name + y.type);
    EXPECT_EQ(x.index, y.index);
    EXPECT_EQ(x.instance, y.instance);
    EXPECT_EQ(x.role, y.role);
    EXPECT_EQ(x.control, y.control);
    EXPECT_EQ(x.value.family, y.value.family);
    EXPECT_EQ(x.value.shape, y.value.shape);
    EXPECT_EQ(x.scaling.location, y.scaling.location);
    EXPECT_EQ(x.scaling.scale, y.scaling.scale);
    EXPECT_EQ(x.scaling.low, y.scaling.low);
    EXPECT_EQ(x.scaling.high, y.scaling.high);
    EXPECT_EQ(x.scaling.bounds_vary, y.scaling.bounds_vary);
    EXPECT_EQ(x.type_row, y.type_row);
    EXPECT_EQ(x.successors, y.successors);
    EXPECT_EQ(x.rows_to, y.rows_to);
    EXPECT_EQ(x.range, y.range);
  }
  Parameters &p = a.parameters(), &q = b.parameters();
  ASSERT_EQ(p.block_count(), q.block_count());
  for (BlockId id = 0; id < p.block_count(); ++id) {
    const std::size_t bytes = std::size_t{p.block(id).rows} * p.block(id).columns * 4;
    ASSERT_EQ(bytes, std::size_t{q.block(id).rows} * q.block(id).columns * 4);
    EXPECT_EQ(std::memcmp(p.values(id), q.values(id), bytes), 0);
    if (!optimizer) continue;
    EXPECT_EQ(std::memcmp(p.first_moments(id), q.first_moments(id), bytes), 0);
    EXPECT_EQ(std::memcmp(p.second_moments(id), q.second_moments(id), bytes), 0);
    EXPECT_EQ(std::memcmp(p.births(id), q.births(id), p.block(id).rows * 8), 0);
  }
}

void expect_read_back(const NetworkFile& file) {
  const std::string path = ::testing::TempDir() + "network.psn";
  save_network(path, file);
  const NetworkFile read = load_network(path);
  EXPECT_EQ(read.history, file.history);
  EXPECT_EQ(read.optimizer, file.optimizer);
  expect_equal(*file.network, *read.network, file.optimizer);
  EXPECT_EQ(serialize_network(read), serialize_network(file));
}

TEST(NetworkFiles, AreReadBackBitForBit) {
  for (const bool optimizer : {false, true}) {
    for (const Addressing addressing :
         {Addressing::kInstance, Addressing::kSite, Addressing::kShared}) {
      expect_read_back(example(optimizer, addressing));
    }
    for (const std::string_view core : core_names()) {
      expect_read_back(example(optimizer, Addressing::kSite, core));
    }
  }
}

TEST(NetworkFiles, GrowOnAsIfNeverSaved) {
  const NetworkFile file = example(true);
  const NetworkFile read = parse_network(serialize_network(file), "x");
  InProcess simulator(all_families());
  const auto traces = simulate(simulator, 300, 8);
  grow(*file.network, traces);
  grow(*read.network, traces);
  expect_equal(*file.network, *read.network, true);
}

void expect_refused(const std::string& bytes) {
  try {
    parse_network(bytes, "the-file");
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("the-file"), std::string::npos);
    return;
  }
  ADD_FAILURE() << "accepted";
}

TEST(HostileNetworkFiles, CutShort) {
  const std::string bytes = serialize_network(example());
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 50) {
    expect_refused(bytes.substr(0, length));
  }
  expect_refused(bytes.substr(0, bytes.size() - 1));
  expect_refused(bytes + "x");
}

TEST(HostileNetworkFiles, FlippedBits) {
  const std::string bytes = serialize_network(example());
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    const std::uint64_t header = 8 + *reinterpret_cast<const std::uint64_t*>(bytes.data());
    // Half of them in the header.
    const std::uint64_t at = rng.below(i % 2 == 0 ? header : bytes.size());
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << rng.below(8)));
    try {
      parse_network(damaged, "the-file");
      // Only white space between the header and the data may change without notice.
      EXPECT_LT(at, header);
    } catch (const DataError&) {
    }
  }
}

// A file that is sound as a tensor file, its checksum right, but says something impossible.
struct Forgery {
  const char* what;
  std::function<void(TensorFile&)> change;
};

void edit(TensorFile& file, const std::string& key, const std::function<void(json&)>& change) {
  json value = json::parse(file.metadata[key]);
  change(value);
  file.metadata[key] = value.dump();
}

template <class T>
Forgery config(const char* key, T value) {
  return {key,
          [=](TensorFile& f) { edit(f, "network", [&](json& j) { j["config"][key] = value; }); }};
}

template <class T>
Forgery node(const char* key, T value, std::size_t which = 2) {
  return {key, [=](TensorFile& f) { edit(f, "catalog", [&](json& j) { j[which][key] = value; }); }};
}

Forgery number(const char* tensor, float value) {
  return {tensor, [=](TensorFile& f) {
            std::memcpy(f.tensors.at(tensor).bytes.data(), &value, sizeof value);
          }};
}

// Another family and shape, and a type to match.
std::function<void(TensorFile&)> as_joint(std::string family, json shape) {
  return [=](TensorFile& f) {
    edit(f, "catalog", [&](json& j) {
      j[2].update({{"family", family},
                   {"shape", shape},
                   {"type", shape.empty() ? family : family + shape.dump()}});
    });
  };
}

void expect_refused(const std::string& bytes, const std::vector<Forgery>& forgeries) {
  for (const Forgery& forgery : forgeries) {
    SCOPED_TRACE(forgery.what);
    TensorFile file = TensorFile::parse(bytes, "original", kNetworkFileKind, kNetworkFileVersion);
    forgery.change(file);
    expect_refused(file.serialize());
  }
}

TEST(HostileNetworkFiles, Forged) {
  const std::string bytes = serialize_network(example(true));
  const json deep = json::parse(std::string(50, '[') + std::string(50, ']'));
  const std::vector<Forgery> forgeries{
      config("lstm_dim", 0),
      config("lstm_dim", 20),
      config("lstm_dim", -3),
      config("lstm_dim", 1e300),
      config("lstm_dim", 32768),
      config("lstm_dim", std::uint64_t{1} << 63),
      config("core", "rnn"),
      config("core", "gru"),  // with an lstm's sizes
      config("core", 3),
      config("lstm_depth", 1),
      config("lstm_depth", 3),
      config("sample_embedding_dim", 32000),
      config("address_embedding_dim", 32000),
      config("transition_hidden_dim", 32000),
      config("mixture_components", 1000),
      config("addressing", "site"),
      config("addressing", 7),
      config("variable_embedding", 7),
      config("variable_layers", deep),
      node("family", "Cauchy"),
      node("family", "Categorical"),
      node("family", "Mixture"),
      node("family", "Dirichlet"),
      {"a Dirichlet that is no vector", as_joint("Dirichlet", json::array())},
      {"a Dirichlet of one", as_joint("Dirichlet", json{1})},
      {"a MultivariateNormal of pictures", as_joint("MultivariateNormal", json{2, 2})},
      {"a MultivariateNormal of thousands", as_joint("MultivariateNormal", json{4096})},
      node("categories", 1000000000),
      node("mixture", 4),
      node("shape", json{0}),
      node("shape", json{-1}),
      node("shape", json{1 << 30, 1 << 30, 1 << 30}),
      node("shape", json{2}),
      node("shape", "x"),
      node("shape", deep),
      node("instance", 0),
      node("instance", -1),
      node("role", "finish"),
      node("control", 1),
      node("index", "x"),
      node("base", 3),
      node("successors", json{0}),
      node("successors", json{4, 4}),
      node("successors", json{100000}),
      node("successors", json{-1}),
      node("successors", "x"),
      node("successors", json::array()),
      node("successors", json{3}, 1),
      node("type", "Normal", 100),
      node("type", "Poisson"),
      node("type", "Normal[1]"),
      node("type", "Categorical(len_probs:4)", 5),
      node("name", "a\nb"),
      node("base", "\x07"),
      number("core.0.recurrent", std::nanf("")),
      number("node.4.transition", HUGE_VALF),
      number("node.4.scale", 0.0f),
      number("node.4.scale", -1.0f),
      number("node.4.location", std::nanf("")),
      number("second_moment.core.0.bias", -1.0f),
      {"double address",
       [](TensorFile& f) {
         edit(f, "catalog", [](json& j) {
           j[6]["base"] = j[5]["base"];
           j[6]["type"] = j[5]["type"];
         });
       }},
      {"two names",
       [](TensorFile& f) {
         edit(f, "catalog", [](json& j) {
           j[6] = j[5];
           j[6]["instance"] = 2;
           j[6]["name"] = "another";
         });
       }},
      {"updates",
       [](TensorFile& f) { edit(f, "network", [](json& j) { j["step"] = ~std::uint64_t{0}; }); }},
      {"births", [](TensorFile& f) { f.tensors.at("birth.core.0.bias").bytes[7] = 0x7f; }},
      {"bounds",
       [](TensorFile& f) {
         f.tensors.at("node.3.bounds") = Tensor::from({2, 1}, {2});
       }},
      {"surplus", [](TensorFile& f) { f.tensors["more"] = Tensor::from({1}, {1}); }},
      {"missing", [](TensorFile& f) { f.tensors.erase("node.3.value.0"); }},
      {"type",
       [](TensorFile& f) {
         f.tensors["core.0.bias"] = Tensor::from(std::vector<double>(76), {76, 1});
       }},
      {"shape",
       [](TensorFile& f) {
         f.tensors["core.0.bias"].shape = {1, 76};
       }},
      {"no catalog", [](TensorFile& f) { f.metadata.erase("catalog"); }},
      {"no network", [](TensorFile& f) { f.metadata.erase("network"); }},
      {"no history", [](TensorFile& f) { f.metadata.erase("history"); }},
      {"catalog", [](TensorFile& f) { f.metadata["catalog"] = "[{}]"; }},
      {"catalog of numbers", [](TensorFile& f) { f.metadata["catalog"] = "[1, 2, 3]"; }},
      {"nesting", [](TensorFile& f) { f.metadata["catalog"] = std::string(1 << 20, '['); }},
      {"version", [](TensorFile& f) { f.version = kNetworkFileVersion + 1; }},
      {"kind", [](TensorFile& f) { f.kind = "psn posterior"; }},
  };
  expect_refused(bytes, forgeries);
}

json place(const json& base, const json& offset, const json& where = 2) {
  return json::array({json{{"node", where}, {"base", base}, {"offset", offset}}});
}

json range(const json& low, const json& high, const json& low_traces, const json& high_traces) {
  return {{"low", low}, {"high", high}, {"low_traces", low_traces}, {"high_traces", high_traces}};
}

TEST(HostileNetworkFiles, ForgedPlaces) {
  const std::vector<Forgery> forgeries{
      node("successors", place("first", 0)),
      node("successors", place("none", 0)),
      node("successors", place(3, 0)),
      node("successors", place("own", 0.5)),
      node("successors", place("own", ~std::uint64_t{0})),
      node("successors", place("own", nullptr)),
      node("successors", place("own", 0, 100000)),
      node("successors", place("own", 0, 0)),
      node("successors", place("own", 0, 1)),
      node("indices", 3),
      node("indices", range(2, 1, 1, 1)),
      node("indices", range(0, 1, 0, 1)),
      node("indices", range(0, 1, 1, 9)),
      node("indices", range(0, "x", 1, 1)),
  };
  const std::string shared = serialize_network(example(false, Addressing::kShared));
  expect_refused(shared, forgeries);
  TensorFile file = TensorFile::parse(shared, "original", kNetworkFileKind, kNetworkFileVersion);
  node("indices", range(0, 1, 1, 8)).change(file);
  node("successors", place("own", -3, 3)).change(file);
  EXPECT_NO_THROW(parse_network(file.serialize(), "the-file"));
  expect_refused(serialize_network(example()), {node("indices", range(0, 1, 1, 8))});
}

std::string with_header(std::uint64_t length, const std::string& rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + rest;
}

TEST(HostileNetworkFiles, Headers) {
  expect_refused(with_header(~std::uint64_t{0}, "{}"));
  expect_refused(with_header(std::uint64_t{1} << 40, "{}"));
  expect_refused(with_header(2, "{}"));
  expect_refused(with_header(2, "[]"));
  expect_refused(with_header(1'000'000, std::string(1'000'000, '[')));
  std::string deep = R"({"__metadata__": {"kind": "psn network", "version": "1"}, "x": )";
  deep += std::string(500'000, '[') + std::string(500'000, ']') + "}";
  expect_refused(with_header(deep.size(), deep));
  // The other endianness.
  std::string bytes = serialize_network(example());
  std::reverse(bytes.begin(), bytes.begin() + 8);
  expect_refused(bytes);
  Rng rng(3);
  for (int i = 0; i < 200; ++i) {
    std::string noise(rng.below(300), '\0');
    for (char& c : noise) c = static_cast<char>(rng.below(256));
    expect_refused(with_header(rng.below(300), noise));
  }
}

}  // namespace
}  // namespace psn
