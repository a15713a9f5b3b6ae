"""Python and the command line are one thing: every command has a counterpart here, with the same
options, and for the same seed the same numbers."""

import inspect
import json
import math
import os
import re
import subprocess
import tempfile
import tomllib
import unittest

import numpy as np
import psn
from psn import ppx
from support import PROGRAM, InFolder, psn_json, psn_text

# Commands, and what Python has in their place.
COUNTERPARTS = {
    "models": psn.models, "simulate": psn.simulate, "infer": psn.infer, "predict": psn.predict,
    "graph": psn.graph, "inspect": psn.Network, "doctor": psn.machine,
    "train": (psn.train_surrogate, psn.train_inference), "serve": psn.serve, "keys": psn.make_keys,
    "compare": psn.compare, "validate": psn.validate, "calibrate": psn.calibrate,
    "criticise": psn.criticise, "evidence": psn.bayes_factors, "report": psn.report, "summary": psn.summary,
    "diagnose": psn.diagnose, "watch": psn.watch, "export": psn.export,
    "data generate": psn.generate, "data info": psn.Store.contents, "data verify": psn.Store.verify,
    "data merge": psn.Store.merge, "data export": psn.Store.export,
    "data import": (psn.import_runs, psn.Store.from_arrays),
}
# Of the program alone: what is shown of it, and experiments that are no services.
ALONE = {"completion", "man", "help", "exact", "experiment", "zoo", "attach"}
# What options are called there, if not by their own name.
CALLED = {"query": "queries", "given": "held", "observe": "observations", "thin": "thinning",
          "show": "record", "from": "start", "ppx": "endpoint", "latent": "latents",
          "core_dim": "lstm_dim", "core_depth": "lstm_depth", "network": "networks"}
# Options for how the program is told, and what it shows; `psn.report` tells files by their endings.
WORDS = {"help", "config", "json", "open", "out", "log", "svg", "png", "pdf", "every", "once"}
TIMES = {"traces_per_second", "speed", "seconds"}
DATA = {"obs0": 8, "obs1": 9}
OBSERVE = ["--observe", "obs0=8", "--observe", "obs1=9"]


def commands(*group):
    listed = psn_text(*group, "--help").partition("Subcommands:\n")[2].partition("\n\n")[0]
    return [" ".join([*group, name]) for name in re.findall(r"^  ([a-z]+)", listed, re.M)]


def untimed(json):
    """Without what depends on time."""
    if isinstance(json, dict):
        return {name: untimed(value) for name, value in json.items() if name not in TIMES}
    return [untimed(value) for value in json] if isinstance(json, list) else json


class Commands(unittest.TestCase):
    def test_each_has_a_counterpart_and_a_test(self):
        names = {*commands(), *commands("data")} - {"data"}
        self.assertEqual(names, set(COUNTERPARTS) | ALONE)
        for name in COUNTERPARTS:
            with self.subTest(name):
                self.assertTrue(hasattr(SameNumbers, "test_" + name.replace(" ", "_")))

    def test_each_option_has_a_counterpart(self):
        for command, counterparts in COUNTERPARTS.items():
            known = {"samples", *psn.running.DEFAULTS}
            for call in counterparts if isinstance(counterparts, tuple) else (counterparts,):
                known |= set(inspect.signature(call).parameters)
            inner = [[command]]
            if command == "train":
                known |= {*inspect.signature(psn.training._train).parameters, *psn._core.settings}
                inner = [["train", "surrogate"], ["train", "inference"]]
            elif command == "export":
                known |= set(inspect.signature(psn.results.export_job).parameters)
            for words in inner:
                options = re.findall(r"^  (?:-\w,)?--([a-z][a-z_-]*)",
                                     psn_text(*" ".join(words).split(), "--help"), re.M)
                names = {option.replace("-", "_") for option in options} - WORDS
                self.assertEqual({name for name in names if not {name, CALLED.get(name)} & known},
                                 set(), command)


class SameNumbers(InFolder):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.networks = {}
        for kind in ("surrogate", "inference"):
            cls.networks[kind] = os.path.join(folder.name, kind + ".psn")
            psn_json("train", kind, "gaussian", "--traces", "2000", "--validation", "200",
                     "--seed", "7", "--log", os.path.join(folder.name, kind),
                     "--out", cls.networks[kind])
        cls.surrogate, cls.inference = cls.networks.values()
        cls.kept = folder.name

    def config(self, folder):
        """What was asked for; not how it was said."""
        with open(self.path(folder + "/config.toml"), "rb") as file:
            config = tomllib.load(file)
        return {name: value for name, value in config.items() if name not in ("out", "posterior", "json")}

    def same(self, words, call, summary="summary.json"):
        """One folder by the command line, one by Python: the same figures, and the same options."""
        psn_json(*words, "--seed", "3", "--out", self.path("theirs"))
        result = call(seed=3, quiet=True, out=self.path("ours"))
        self.assertEqual(self.config("ours"), self.config("theirs"))
        theirs, ours = os.listdir(self.path("theirs")), os.listdir(self.path("ours"))
        self.assertEqual(sorted(ours), sorted(theirs))
        for name in ours:
            if name in (summary, "config.toml", "report.html"):  # times, and the folder's name
                continue
            with open(self.path("ours/" + name), "rb") as a, open(self.path("theirs/" + name), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)
        with open(self.path("theirs/" + summary)) as file:
            expected = untimed(json.load(file))
        with open(self.path("ours/" + summary)) as file:
            self.assertEqual(untimed(json.load(file)), expected)
        if hasattr(result, "to_dict"):
            self.assertEqual(untimed(result.to_dict()), expected)
        return result

    def test_models(self):
        expected = psn_json("models")["models"]
        self.assertEqual(psn.models(), {model["name"]: model["description"] for model in expected})

    def test_simulate(self):
        self.same(["simulate", "gaussian", "-n", "200", "--given", "mu=2.5", "--query", "mu"],
                  lambda **more: psn.simulate("gaussian", 200, held={"mu": 2.5}, queries=["mu"],
                                              **more))

    def test_infer(self):
        for engine, words, more in (
                ("is", ["--query", "result"], {"queries": ["result"]}),
                ("lmh", ["--chains", "2", "--thin", "2"], {"chains": 2, "thinning": 2}),
                ("rmh", ["--burn-in", "7"], {"burn_in": 7}),
                ("da", ["--surrogate", self.surrogate, "--moves", "20", "--fresh", "0.1"],
                 {"surrogate": self.surrogate, "moves": 20, "fresh": 0.1}),
                ("pm", ["--parameters", "mu", "--until", "ess=50"],
                 {"parameters": ["mu"], "until": ["ess=50"]}),
                ("ic", ["--network", self.inference, "--defensive", "0.25"],
                 {"network": self.inference, "defensive": 0.25}),
                ("network", ["--network", self.inference], {"network": self.inference})):
            with self.subTest(engine):
                self.setUp()
                self.same(["infer", "gaussian", "--engine", engine, "-n", "500", *OBSERVE, *words],
                          lambda **options: psn.infer("gaussian", DATA, engine=engine, samples=500,
                                                      **more, **options))

    def test_infer_in_a_surrogate(self):
        self.same(["infer", self.surrogate, "-n", "500", "--correct", "200", "--simulator",
                   "gaussian", *OBSERVE],
                  lambda **more: psn.infer(psn.Network(self.surrogate), DATA, samples=500,
                                           correct=200, simulator="gaussian", **more))

    def test_infer_by_a_network_alone(self):
        post = self.same(["infer", self.inference, "-n", "500", *OBSERVE],
                         lambda **more: psn.infer(psn.Network(self.inference), DATA, samples=500,
                                                  **more))
        self.assertEqual(post.result.engine, "network")
        self.assertTrue(post.summary().approximate)

    def test_predict(self):
        psn.infer("gaussian", DATA, samples=500, quiet=True, out=self.path("post"))
        self.same(["predict", self.path("post"), "-n", "300"],
                  lambda **more: psn.predict(self.path("post"), 300, **more))
        post = psn.infer("gaussian", DATA, samples=500, quiet=True)
        ours = psn.predict(post, 300, seed=3, quiet=True)
        with open(self.path("theirs/summary.json")) as file:
            self.assertEqual(ours.to_dict()["predictive"], json.load(file)["predictive"])

    def test_graph(self):
        self.same(["graph", "control-flow", "-n", "300", "--sites", "--min-probability", "0.1"],
                  lambda **more: psn.graph("control-flow", 300, sites=True, min_probability=0.1,
                                           **more), "transitions.json")

    def test_train(self):
        for kind, train in (("surrogate", psn.train_surrogate), ("inference", psn.train_inference)):
            theirs = psn.Network(self.networks[kind])
            ours = train("gaussian", 2000, validation=200, seed=7, quiet=True, log=self.path(kind))
            self.assertEqual(theirs.config, ours.config)
            self.assertEqual(theirs.history, ours.history)
            with open(os.path.join(self.kept, kind, "summary.json")) as file:
                expected = untimed(json.load(file))
            self.assertEqual(untimed(ours.training.to_dict()), expected)
            with open(self.path(kind + "/summary.json")) as file:
                self.assertEqual(untimed(json.load(file)), expected)

    def test_inspect(self):
        theirs, ours = psn_json("inspect", self.surrogate), psn.Network(self.surrogate)
        self.assertEqual(ours.config, theirs["config"])
        self.assertEqual([node.address for node in ours.nodes],
                         [node["address"] for node in theirs["nodes"]])
        self.assertEqual([len(node.successors) for node in ours.nodes],
                         [len(node["successors"]) for node in theirs["nodes"]])

    def test_doctor(self):
        theirs = psn_json("doctor")
        self.assertEqual(psn.__version__, theirs["version"])
        self.assertEqual(psn.machine()["features"], theirs["features"])
        self.assertEqual(psn.build_facts()["version"], theirs["version"])
        self.assertEqual(ppx.SYSTEM_NAME, "psn python " + theirs["version"])

    def test_compare(self):
        self.same(["compare", "gaussian", self.surrogate, "-n", "1000", "--min-count", "50",
                   "--bin", "mu", "--by", "obs0", "--range", "-5,5"],
                  lambda **more: psn.compare("gaussian", self.surrogate, 1000, min_count=50,
                                             bin="mu", by="obs0", range=(-5, 5), **more),
                  "comparison.json")

    def test_validate(self):
        result = self.same(["validate", "gaussian", self.surrogate, "-n", "500"],
                           lambda **more: psn.validate("gaussian", self.surrogate, 500, **more))
        self.assertEqual(bool(result.verdict), result.verdict.passed)

    def test_calibrate(self):
        self.same(["calibrate", "gaussian", "--network", self.inference, "--datasets", "40",
                   "-n", "100"],
                  lambda **more: psn.calibrate("gaussian", self.inference, 40, draws=100, **more))

    def test_criticise(self):
        self.same(["criticise", "gaussian", "--network", self.inference, "-n", "200", *OBSERVE],
                  lambda **more: psn.criticise("gaussian", DATA, network=self.inference, draws=200,
                                               **more))

    def test_evidence(self):
        result = self.same(["evidence", "gaussian", "gaussian-marsaglia", "-n", "2000", "--network",
                            "gaussian=" + self.inference, *OBSERVE],
                           lambda **more: psn.bayes_factors(
                               ["gaussian", "gaussian-marsaglia"], DATA, samples=2000,
                               networks=[self.inference, None], **more))
        self.assertAlmostEqual(sum(model.probability for model in result.models), 1)

    def test_report(self):
        result = self.path("result")
        psn.infer("gaussian", DATA, samples=300, quiet=True, out=result)
        psn_text("report", result, "--out", self.path("theirs.html"))
        psn.report(result, self.path("ours.html"))
        with open(self.path("ours.html")) as a, open(self.path("theirs.html")) as b:
            self.assertEqual(a.read(), b.read())

    def folders(self):
        """Of two results."""
        psn.infer("gaussian", DATA, samples=300, quiet=True, out=self.path("a"))
        psn.infer("gaussian", DATA, engine="lmh", samples=40, quiet=True, out=self.path("b"))
        return [self.path("a"), self.path("b")]

    def test_summary(self):
        folders = self.folders()
        theirs = psn_json("summary", *folders, "--quantiles", "0.1,0.9")["results"]
        ours = psn.summary(folders, quantiles=[0.1, 0.9])
        self.assertEqual([result.engine for result in ours], ["is", "lmh"])
        self.assertIn("10%", repr(ours))
        for our, their in zip(ours, theirs, strict=True):
            for v in our.variables:
                expected = their["variables"][v.name]
                self.assertEqual([v.mean, v.mcse, v.sd, v.quantiles, list(v.hdi), v.ess],
                                 [expected[name] for name in
                                  ("mean", "mcse", "sd", "quantiles", "hdi", "ess")])
                self.assertEqual(None if math.isnan(v.apart) else v.apart, expected.get("apart"))

    def test_diagnose(self):
        _, result = self.folders()
        done = subprocess.run([PROGRAM, "diagnose", result, "--json"], capture_output=True)
        self.assertEqual(done.returncode, 1)  # so few samples
        findings = json.loads(done.stdout)["results"][0]["findings"]
        ours = psn.diagnose(result).findings
        self.assertEqual([finding.warning for finding in ours],
                         [finding["warning"] for finding in findings])
        self.assertTrue(all(finding.remedy for finding in ours))
        self.assertEqual(psn.diagnose(psn.Network(self.surrogate)).kind, "training")

    def test_watch(self):
        theirs = psn_json("watch", self.kept, "--once")
        ours = psn.watch(self.kept)
        self.assertEqual([course.traces for course in ours],
                         [course["traces"] for course in theirs])
        self.assertEqual({course.phase.name for course in ours}, {"finished"})

    def exported(self, name):
        """What a file has; one of NetCDF has the time as well."""
        if not name.endswith(".nc"):
            with open(self.path(name), "rb") as file:
                return file.read()
        import xarray

        groups = {}
        for group in ("posterior", "observed_data"):
            with xarray.open_dataset(self.path(name), group=group) as data:
                groups[group] = data.to_dict()["data_vars"]
        return groups

    def test_export(self):
        folder = self.folders()[0]
        post = psn.infer("gaussian", DATA, samples=300, quiet=True)
        for name, words, options in (("r.nc", ["--resample", "50", "--seed", "5"],
                                      {"resample": 50, "seed": 5}), ("r.npz", [], {}),
                                     ("r.csv", [], {})):
            kind = {"nc": "netcdf"}.get(name[2:], name[2:])
            with self.subTest(kind):
                psn_json("export", folder, "--format", kind, "--out", self.path(name), *words)
                self.assertEqual(psn.export(folder, self.path("our_" + name), **options),
                                 post.export(self.path("my_" + name), **options))
                expected = self.exported(name)
                for ours in ("our_", "my_"):
                    self.assertEqual(self.exported(ours + name), expected)

    def test_data_generate(self):
        words = ["data", "generate", "gaussian", "-n", "200", "--seed", "3", "--out"]
        psn_json(*words, self.path("theirs"))
        ours = psn.generate("gaussian", 200, self.path("ours"), seed=3, quiet=True)
        self.assertEqual([trace["mu"] for trace in ours],
                         [trace["mu"] for trace in psn.Store(self.path("theirs"))])
        self.assertEqual(self.config("ours"), self.config("theirs"))

    def test_data_info(self):
        store = psn.generate("control-flow", 100, self.path("s"), quiet=True)
        theirs, ours = psn_json("data", "info", store.path), store.contents(0)
        self.assertEqual([use.per_trace for use in ours.addresses],
                         [use["per_trace"] for use in theirs["addresses"]])
        self.assertEqual(ours.length.mean, theirs["length"]["mean"])

    def test_data_verify(self):
        store = psn.generate("gaussian", 50, self.path("s"), quiet=True)
        self.assertEqual(store.verify(quiet=True), psn_json("data", "verify", store.path)["traces"])

    def test_data_merge(self):
        stores = [psn.generate("gaussian", 30, self.path("s%d" % seed), seed=seed, quiet=True)
                  for seed in (1, 2)]
        psn_json("data", "merge", *(store.path for store in stores), "--out", self.path("theirs"))
        ours = psn.Store.merge(stores, self.path("ours"), quiet=True)
        self.assertEqual([trace["mu"] for trace in ours],
                         [trace["mu"] for trace in psn.Store(self.path("theirs"))])

    def test_data_export(self):
        store = psn.generate("gaussian", 50, self.path("s"), quiet=True)
        psn_json("data", "export", store.path, "--query", "mu", "--first", "5", "--count", "7",
                 "--out", self.path("theirs.csv"))
        self.assertEqual(store.export(self.path("ours.csv"), ["mu"], 5, 7), 7)
        with open(self.path("ours.csv")) as a, open(self.path("theirs.csv")) as b:
            self.assertEqual(a.read(), b.read())

    def test_data_import(self):
        arrays = {"a": np.array([0.5, 0.25, -1, np.nan]), "y": np.arange(8.0).reshape(4, 2),
                  "note": np.zeros(4)}
        np.savez(self.path("runs.npz"), **arrays)
        theirs = psn_json("data", "import", self.path("runs.npz"), "--latent", "a=Normal(0, 1)",
                          "--observe", "y", "--out", self.path("theirs"))
        with self.assertWarnsRegex(psn.PsnWarning, "1 of 4 runs are left out"):
            psn.import_runs(self.path("runs.npz"), {"a": "Normal(0, 1)"}, ["y"], self.path("loud"))
        for ours in (psn.import_runs(self.path("runs.npz"), {"a": psn.Normal(0, 1)}, ["y"],
                                     self.path("ours"), quiet=True),
                     psn.Store.from_arrays(arrays, {"a": psn.Normal(0, 1)}, ["y"],
                                           self.path("arrays"), quiet=True)):
            self.assertEqual([ours.imported.runs, ours.imported.traces, ours.imported.failed,
                              ours.imported.missing, ours.imported.unused],
                             [theirs[name] for name in
                              ("runs", "traces", "failed", "missing", "unused")])
            self.assertEqual([trace["a"] for trace in ours], [0.5, 0.25, -1])
            np.testing.assert_array_equal(ours[1]["y"], [2, 3])
            with open(ours.path + "/failed.csv") as a, open(self.path("theirs/failed.csv")) as b:
                self.assertEqual(a.read(), b.read())

    def test_keys(self):
        psn.make_keys(self.path("keys"))
        psn_text("keys", self.path("theirs"))
        for name in ("theirs", "keys"):
            with open(self.path(name)) as both, open(self.path(name + ".pub")) as public:
                self.assertIn(public.read().split()[-1], both.read())

    def test_serve(self):
        words = [PROGRAM, "serve", "gaussian", "--ppx", "ipc://" + self.path("theirs"), "--quiet"]
        script = "import psn; psn.serve('gaussian', 'ipc://%s')" % self.path("ours")
        for command in (words, ["/usr/bin/python3", "-c", script]):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        by = {name: psn.infer("ppx+ipc://" + self.path(name), DATA, samples=100, seed=3, quiet=True)
              for name in ("theirs", "ours")}
        np.testing.assert_array_equal(by["ours"]["mu"], by["theirs"]["mu"])
        self.assertEqual(by["ours"].log_evidence,
                         psn_json("infer", "ppx+ipc://" + self.path("theirs"), *OBSERVE, "-n", "100",
                                  "--seed", "3")["log_evidence"])


if __name__ == "__main__":
    unittest.main()
