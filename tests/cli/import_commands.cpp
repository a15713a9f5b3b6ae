// psn data import: a table of runs that exist, to an answer.
#include <gtest/gtest.h>

#include <cmath>

#include "psn/base/rng.h"
#include "tests/cli/command_test.h"

namespace psn {
namespace {

using test::slurp;

class ImportCommands : public test::CommandTest {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
};

const std::string kImport =
    "data import runs.csv --latent 'a=Normal(0, 1)' --latent 'b=Uniform(0,2)' --observe y,z --out "
    "s ";

TEST_F(ImportCommands, FailedRunsAreKeptApartAndCounted) {
  write("runs.csv",
        "a,b,y[0],y[1],z,note\n"
        "0.5,1,2,3,4,0\n"
        "0.6,1,NaN,3,4,1\n"
        ",1,2,3,,2\n"
        "-0.5,0.25,1,2,3,\n");
  const auto outcome = psn(kImport + "--json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto result = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(result["runs"], 4);
  EXPECT_EQ(result["traces"], 2);
  EXPECT_EQ(result["failed"], 2);
  EXPECT_EQ(result["missing"], (nlohmann::json{{"a", 1}, {"y", 1}, {"z", 1}}));
  EXPECT_EQ(result["unused"], nlohmann::json({"note"}));
  for (const char* part :
       {"'y' is missing in 1 of 4 runs", "2 of 4 runs are left out", "nobody asked for: note"}) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(slurp(folder_ / "s" / "failed.csv"),
            "run,a,b,y[0],y[1],z,note\n2,0.6,1,,3,4,1\n3,,1,2,3,,2\n");
  EXPECT_EQ(json("data verify s")["clean"], true);
  ASSERT_EQ(psn("data export s --query a,b,y,z --out back.csv").code, 0);
  EXPECT_EQ(slurp(folder_ / "back.csv"),
            "log_weight,a,b,y[0],y[1],z\n0,0.5,1,2,3,4\n0,-0.5,0.25,1,2,3\n");
}

TEST_F(ImportCommands, NumpysFilesAreTables) {
  write("make.py",
        "import numpy as np\n"
        "np.savez('runs.npz', a=np.array([.5, -1], 'f4'), b=np.array([1, 0]), "
        "y=np.arange(6.).reshape(2, 3), z=np.array([True, False]))\n"
        "np.savez_compressed('small.npz', a=np.zeros(9), b=np.zeros(9), y=np.zeros(9))\n");
  const std::string make = "cd '" + folder_.string() + "' && '" PSN_PYTHON "' make.py";
  ASSERT_EQ(std::system(make.c_str()), 0);
  const std::string more =
      " --latent 'a=Normal(0,1)' --latent 'b=Uniform(0,2)' --observe y,z --out ";
  EXPECT_EQ(json("data import runs.npz" + more + "s")["traces"], 2);
  ASSERT_EQ(psn("data export s --query a,b,y,z --out back.csv").code, 0);
  EXPECT_EQ(slurp(folder_ / "back.csv"),
            "log_weight,a,b,y[0],y[1],y[2],z\n0,0.5,1,0,1,2,1\n0,-1,0,3,4,5,0\n");
  expect_error("data import small.npz" + more + "t", 65, "compressed: use numpy.savez");
  write("broken.npz", slurp(folder_ / "runs.npz").substr(0, 300));
  expect_error("data import broken.npz" + more + "t", 65, "broken.npz");
}

TEST_F(ImportCommands, WhatCannotBeMeantIsSaid) {
  write("runs.csv", "a,b,y,z\n0.5,1,2,3\n0.5,3,2,3\n");
  expect_error(kImport, 64, "run 2: 'b' = 3 is impossible under Uniform");
  const auto refused = [&](const std::string& latent, const std::string& part, int code = 64) {
    expect_error("data import runs.csv --observe y --out s --latent '" + latent + "'", code, part);
  };
  refused("c=Normal(0,1)", "no column 'c'");
  refused("a=Norml(0,1)", "no family 'Norml'; did you mean 'Normal'?");
  refused("a=Normal(0)", "Normal has 2 parameters, not 1");
  refused("a=Normal(0,-1)", "prior 'a=Normal(0,-1)'");
  refused("a", "expected NAME=FAMILY(PARAMETERS)");
  write("runs.csv", "a,y\n0.5,up\n");
  refused("a=Normal(0,1)", "line 2, column 'y': 'up' is no number", 65);
  write("runs.csv", "a,y\n0.5\n");
  refused("a=Normal(0,1)", "line 2: 1 cells, but 2 names", 65);
  write("runs.csv", "a,y\n0.5,nan\n");
  refused("a=Normal(0,1)", "has no run with all of these columns");
  write("runs.csv", "a,y\n0.5,1\n");
  ASSERT_EQ(psn("data import runs.csv --observe y --out s --latent 'a=Normal(0,1)'").code, 0);
  refused("a=Normal(0,1)", "'s' has traces already", 65);
}

// y = a + N(0, 1/2): given y = 1, a ~ N(.8, .45). Runs alone, no simulator: the surrogate that is
// learned from them stands in for it. 3000 runs leave a network's mean off by a tenth or so (KL
// below 0.05 nats: at most 0.3 deviations, or 0.14).
TEST_F(ImportCommands, FromATableToAPosterior) {
  Rng rng(4);
  std::string text = "a,y\n";
  for (int i = 0; i < 3000; ++i) {
    const double a = rng.normal();
    text += std::to_string(a) + "," + std::to_string(a + 0.5 * rng.normal()) + "\n";
  }
  write("runs.csv", text);
  json("data import runs.csv --latent 'a=Normal(0,1)' --observe y --out runs");
  for (const std::string kind : {"surrogate", "inference"}) {
    json("train " + kind + " --data runs --seed 1 --lstm_dim 24 --out " + kind + ".psn");
  }
  const auto posterior =
      json("infer surrogate.psn --engine network --network inference.psn --observe y=1 -n 2000")
          ["posterior"];
  EXPECT_NEAR(posterior["a"]["mean"].get<double>(), 0.8, 0.2);
  EXPECT_NEAR(posterior["a"]["sd"].get<double>(), 0.447, 0.12);
}

}  // namespace
}  // namespace psn
