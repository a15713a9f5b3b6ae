"""Programs in Python, in this process, against exact answers; and what becomes of broken ones."""

import importlib.util
import os
import pydoc
import signal
import tempfile
import threading
import time
import traceback
import unittest

import numpy as np
import psn
from support import psn_json, shop

# Of Gamma(14, 9).
MEAN, SD = 14 / 9, 14**0.5 / 9


class Exact(unittest.TestCase):
    # The bound is five standard errors, so a false alarm comes once in a million seeds.
    def check(self, post):
        self.assertLess(abs(post.mean("rate") - MEAN), 5 * SD / post.ess**0.5)
        self.assertLess(abs(post.std("rate") - SD), 5 * SD / post.ess**0.5)
        self.assertGreater(post.ess, 500)

    def test_importance_sampling(self):
        post = psn.infer(shop, {"count": 12}, samples=5000, quiet=True)
        self.check(post)
        # Evidence: a negative binomial.
        from math import lgamma, log
        exact = lgamma(14) - lgamma(2) - lgamma(13) + 2 * log(1 / 9) + 12 * log(8 / 9)
        self.assertLess(abs(post.log_evidence - exact), 0.1)

    def test_rejection_loops(self):
        # z is uniform on (0, 1/4), y is z + noise of .1: a normal that is cut off at both ends.
        @psn.model
        def loop():
            kept = psn.until(lambda: {"z": psn.sample(psn.Uniform(0, 1), "z")},
                             lambda round: round["z"] < 0.25)
            psn.observe(psn.Normal(kept["z"], 0.1), "y")
            return kept["z"]

        z = (np.arange(100_000) + 0.5) / 400_000
        weight = np.exp(-0.5 * ((0.2 - z) / 0.1)**2)
        mean = (z * weight).sum() / weight.sum()
        sd = (((z - mean)**2 * weight).sum() / weight.sum())**0.5
        evidence = weight.mean() / (0.1 * (2 * np.pi)**0.5)
        network = psn.train_inference(loop, traces=4000, quiet=True)
        for more in {}, {"engine": "lmh"}, {"network": network}, {"workers": 2}:
            with self.subTest(**more):
                samples = 20000 if "engine" in more else 4000
                post = psn.infer(loop, {"y": 0.2}, queries=["result"], samples=samples, quiet=True,
                                 **more)
                self.assertGreater(post.ess, 500)
                self.assertLess(abs(post.mean("result") - mean), 5 * sd / post.ess**0.5)
                if not post.chains:
                    error = (1 / post.ess - 1 / samples)**0.5 * evidence
                    self.assertLess(abs(np.exp(post.log_evidence) - evidence), 5 * error + 1e-9)
        # Only the accepted round is weighed: written out, ESS falls to a few percent.
        post = psn.infer(loop, {"y": 0.2}, network=network, samples=4000, quiet=True)
        self.assertGreater(post.ess, 1200)

    def test_kept_runs_of_a_program_that_goes_on_with_what_it_sees(self):
        @psn.model
        def goes_on():
            mu = psn.sample(psn.Normal(0, 1), "mu")
            seen = psn.observe(psn.Normal(mu, 1), "seen")
            psn.sample(psn.Normal(seen, 1), "after")

        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(psn.InvalidArgument, "goes on with what was observed"):
                psn.infer(goes_on, {"seen": 1}, samples=100, keep=folder + "/runs", quiet=True)
            keep = folder + "/shop"
            for count in 12, 3:
                post = psn.infer(shop, {"count": count}, samples=4000, keep=keep, quiet=True)
                self.assertLess(abs(post.mean("rate") - (2 + count) / 9),
                                5 * (2 + count)**0.5 / 9 / post.ess**0.5)
            self.assertEqual(len(psn.Store(keep)), 4000)

    def test_rejection_loops_that_break(self):
        @psn.model
        def breaks():
            psn.until(lambda: psn.sample(psn.Uniform(0, 1), "z"), lambda z: 1 / (z - z))

        with self.assertRaisesRegex(psn.ModelError, "ZeroDivisionError") as caught:
            psn.simulate(breaks, 10, quiet=True)
        self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
        with self.assertRaisesRegex(psn.ModelError, "inside a running program"):
            psn.until(lambda: 1, bool)

    def test_markov_chains(self):
        for engine in ("lmh", "rmh"):
            with self.subTest(engine):
                self.check(psn.infer(shop, {"count": 12}, engine=engine, samples=8000, quiet=True))

    def test_same_seed_same_numbers(self):
        one, two, other = (psn.infer(shop, {"count": 12}, samples=500, seed=seed, quiet=True)
                           for seed in (1, 1, 2))
        np.testing.assert_array_equal(one["rate"], two["rate"])
        self.assertFalse((one["rate"] == other["rate"]).any())

    def test_a_posterior_as_arrays(self):
        post = psn.infer(shop, {"count": 12}, samples=1000, quiet=True)
        rate = post["rate"]
        self.assertFalse(rate.flags.owndata or rate.flags.writeable)
        self.assertEqual(rate.__array_interface__["data"], post["rate"].__array_interface__["data"])
        self.assertAlmostEqual(post.weights @ rate, post.mean("rate"), 12)
        summary, names = post.summary(), post.names
        del post
        self.assertEqual(names, ["rate"])
        self.assertEqual(len(rate), 1000)  # it keeps the memory alive
        self.assertIn("rate", repr(summary))
        self.assertIn("<table>", summary._repr_html_())


    def test_figures(self):
        plot = psn.infer(shop, {"count": 12}, samples=1000, quiet=True).plot("rate", bins=10)
        bars = plot.spec["hconcat"][0]["data"]["values"]
        self.assertEqual(len(bars), 10)
        self.assertAlmostEqual(sum((bar["high"] - bar["low"]) * bar["density"] for bar in bars), 1)
        self.assertIn("application/vnd.vegalite.v5+json", plot._repr_mimebundle_())

    @unittest.skipUnless(importlib.util.find_spec("xarray"), "needs xarray")
    def test_as_arviz_has_it(self):
        chains = psn.infer(shop, {"count": 12}, engine="lmh", samples=400, chains=2, quiet=True)
        data = chains.to_xarray()
        self.assertEqual(data["rate"].dims, ("chain", "draw"))
        np.testing.assert_array_equal(data["rate"].values.ravel(), chains["rate"])
        post = psn.infer(shop, {"count": 12}, samples=4000, quiet=True)
        self.assertLess(abs(float(post.to_xarray()["rate"].mean()) - MEAN), 5 * SD / post.ess**0.5)


class Choices(unittest.TestCase):
    def test_values_of_all_sorts(self):
        seen = {}

        def program():
            seen["whole"] = psn.sample(psn.Categorical([0.2, 0.8]), "k")
            seen["real"] = psn.sample(psn.Normal(0, 1), "x")
            seen["vector"] = psn.sample(psn.Normal([0, 1, 2, 3, 4], 1), "v")
            seen["matrix"] = psn.sample(psn.Normal(np.zeros((2, 3)), 1), "m")
            psn.observe(psn.Normal(0, 1), "y")
            seen["own"] = psn.observe(psn.Normal(0, 1), "z", 1.5)
            psn.tag(np.arange(3), "t")
            psn.factor(-0.5)
            return seen["vector"]

        runs = psn.simulate(program, 5, record=5, quiet=True)
        self.assertIs(type(seen["whole"]), int)
        self.assertIs(type(seen["real"]), float)
        self.assertEqual(seen["vector"].shape, (5,))
        self.assertEqual(seen["matrix"].shape, (2, 3))
        self.assertEqual(runs["m"].shape, (5, 2, 3))
        np.testing.assert_array_equal(runs["v"][4], seen["vector"])
        np.testing.assert_array_equal(runs.traces[4].steps[3].value, seen["matrix"])
        np.testing.assert_array_equal(runs["t"], np.tile([0, 1, 2], (5, 1)))
        psn.infer(program, {"x": 1}, samples=5, quiet=True)
        self.assertEqual(seen["own"], 1.5)
        self.assertEqual(seen["real"], 1)

    def test_addresses(self):
        def program():
            with psn.scope("floor", 2):
                psn.sample(psn.Normal(0, 1), "x")
            psn.sample(psn.Normal(0, 1), index=3, name="x")
            psn.sample(psn.Normal(0, 1), address="there")
            psn.sample(psn.Normal(0, 1))  # this line
            return None

        steps = psn.simulate(program, 1, record=1, quiet=True).traces[0].steps
        line = program.__code__.co_firstlineno + 5
        self.assertEqual([step.address for step in steps],
                         ["floor_2/x__Normal__1", "x_3__Normal__1", "there__Normal__1",
                          "test_inference.py:%d__Normal__1" % line])

    def test_every_family(self):
        self.assertEqual(len(psn._core.families), 19)
        for name in psn._core.families:
            self.assertTrue(callable(getattr(psn, name)), name)
        self.assertEqual(repr(psn.Normal(mean=0, stddev=2)), "Normal(mean=0, stddev=2)")
        joint = psn.MultivariateNormal([0, 0], [[1, 0.5], [0.5, 2]])
        self.assertAlmostEqual(joint.log_prob([0, 0]), -np.log(2 * np.pi) - 0.5 * np.log(1.75))
        mixture = psn.Mixture([1, 3], [psn.Normal(0, 1), psn.Normal(4, 1)])
        self.assertEqual(mixture.mean, 3)
        with self.assertRaisesRegex(psn.InvalidArgument, "stddev must be positive"):
            psn.Normal(0, -1).log_prob(0)
        with self.assertRaises(TypeError):
            psn.Normal("nought", 1)

    def test_arguments(self):
        normal = psn.Normal(stddev=2, mean=1)
        self.assertEqual(repr(normal), "Normal(mean=1, stddev=2)")
        for call, words in ((lambda: psn.Normal(1), r"Normal\(\) needs 'stddev'"),
                            (lambda: psn.Normal(1, 2, 3), "takes 2 arguments without a name"),
                            (lambda: psn.Normal(1, mean=2), "got 'mean' twice"),
                            (lambda: psn.Normal(1, sd=2), "has no argument 'sd'"),
                            (lambda: psn.sample(1.0, "x"), "a float is no distribution"),
                            (lambda: psn.sample(normal, 3), "a name is a str, not a int"),
                            (lambda: psn.Poisson("many"), "a str is no number")):
            with self.assertRaisesRegex(TypeError, words):
                call()
        self.assertIn("(distribution, name=None, *,", pydoc.render_doc(psn.sample))
        self.assertIn("observations: 'Mapping", pydoc.render_doc(psn.infer))

    def test_observations_that_are_computed(self):
        def program():
            x = psn.sample(psn.Normal(0, 1), "x")
            return psn.observe_value(np.exp(x), "y")

        runs = psn.simulate(program, 5, quiet=True)
        np.testing.assert_array_equal(runs["y"], np.exp(runs["x"]))
        with self.assertRaisesRegex(psn.Error, "y"):
            psn.infer(program, {"y": 1}, quiet=True)

    def test_outside_of_a_run(self):
        with self.assertRaisesRegex(psn.ModelError, "psn.sample works only inside a running"):
            psn.sample(psn.Normal(0, 1), "x")

    def test_models_in_models(self):
        def outer():
            x = psn.sample(psn.Normal(0, 1), "x")
            inner = psn.infer(shop, {"count": 12}, samples=20, quiet=True)
            return x + inner.mean("rate")

        self.assertEqual(len(psn.simulate(outer, 3, quiet=True)), 3)


class Broken(unittest.TestCase):
    def raised(self, error, call, *args, **kwargs):
        with self.assertRaises(error) as caught:
            call(*args, **kwargs)
        return caught.exception, "".join(traceback.format_exception(caught.exception))

    def test_an_exception_has_its_traceback(self):
        def program():
            return [][int(psn.sample(psn.Normal(0, 1), "x"))]

        error, text = self.raised(psn.ModelError, psn.infer, program, {"x": 3}, quiet=True)
        self.assertIsInstance(error.__cause__, IndexError)
        self.assertIn("return [][int(psn.sample", text)
        self.assertIn("IndexError: list index out of range (test_inference.py, line", str(error))
        self.assertNotIn("\n", str(error))

    def test_failures_that_may_be(self):
        def program():
            x = psn.sample(psn.Uniform(0, 1), "x")
            if x < 0.01:
                raise ValueError("rare")
            return x

        with self.assertWarnsRegex(psn.PsnWarning, "runs failed \\(.* threw\\) and are left out"):
            runs = psn.simulate(program, 2000, max_failures=0.1)
        self.assertGreater(runs["x"].min(), 0.01)
        self.assertLess(len(runs), 2000)

    def test_parameters_that_cannot_be(self):
        ends = []

        def program():
            try:
                x = psn.sample(psn.Normal(0, 1), "x")
                psn.sample(psn.Normal(x, -1), "broken")
            finally:
                ends.append(1)

        error, text = self.raised(psn.ModelError, psn.simulate, program, 1, quiet=True)
        self.assertIn("'broken__Normal__1'", str(error))
        self.assertIn('psn.sample(psn.Normal(x, -1), "broken")', text)
        self.assertEqual(ends, [1])

    def test_a_program_that_catches_everything(self):
        def program():
            for _ in range(10):
                try:
                    psn.sample(psn.Normal(0, -1), "broken")
                except:  # noqa: E722
                    pass
            return 1.0

        self.raised(psn.ModelError, psn.simulate, program, 1, quiet=True)

    def test_a_result_that_is_no_number(self):
        error, _ = self.raised(psn.ModelError, psn.simulate, lambda: "text", 1, quiet=True)
        self.assertIn("returned a str, which is no number", str(error))

    def test_what_was_asked_for(self):
        with self.assertRaisesRegex(psn.InvalidArgument, "did you mean 'count'"):
            psn.infer(shop, {"coutn": 12}, quiet=True)
        with self.assertRaisesRegex(psn.InvalidArgument, "unknown model 'gausian'; did you mean"):
            psn.infer("gausian", {"obs0": 8}, quiet=True)
        with self.assertRaisesRegex(psn.InvalidArgument, "`engine`"):
            psn.infer(shop, {"count": 12}, engine="hmc")
        with self.assertRaisesRegex(TypeError, "did you mean 'seed'"):
            psn.infer(shop, {"count": 12}, sede=1)
        self.assertTrue(issubclass(psn.InvalidArgument, ValueError))
        self.assertTrue(issubclass(psn.DataError, psn.Error))


class Interrupted(unittest.TestCase):
    def interrupted(self, call, after=0.3):
        main = threading.main_thread().ident
        threading.Timer(after, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            call()

    def test_many_runs(self):
        self.interrupted(lambda: psn.infer(shop, {"count": 12}, samples=3_000_000, quiet=True))

    def test_a_program_that_hangs(self):
        def program():
            psn.sample(psn.Normal(0, 1), "x")
            while True:
                pass

        self.interrupted(lambda: psn.simulate(program, 1, quiet=True))

    def test_the_next_call_is_a_new_one(self):
        self.test_many_runs()
        self.assertEqual(len(psn.simulate(shop, 10, quiet=True)), 10)

    def test_progress_may_raise(self):
        def progress(label, *rest):
            if label is not None:
                raise RuntimeError("enough")

        host = psn._core.Host({"shop": shop.function}, progress)
        job = psn._core.SimulationJob()
        job.simulation.model, job.simulation.count = "shop", 10**8
        with self.assertRaisesRegex(RuntimeError, "enough"):
            psn._core.simulate(job, host)

    def test_other_threads_go_on(self):
        count = 0
        stop = threading.Event()

        def work():
            nonlocal count
            while not stop.is_set():
                count += 1
                time.sleep(0.001)

        thread = threading.Thread(target=work)
        thread.start()
        psn.infer("gaussian", {"obs0": 8, "obs1": 9}, samples=300_000, quiet=True)
        stop.set()
        thread.join()
        self.assertGreater(count, 5)


class CommandLine(unittest.TestCase):
    def test_a_plugin(self):
        plugin = os.path.join(os.environ["PSN_PLUGIN_DIR"], "libplugin_example.so")
        expected = psn_json("infer", plugin, "--observe", "count=12", "-n", "500", "--seed", "5")
        post = psn.infer(plugin, {"count": 12}, samples=500, seed=5, quiet=True)
        self.assertEqual(post.to_dict()["posterior"], expected["posterior"])

    def test_a_program_here_and_over_ppx(self):
        """The same program, served to the command line by psn.ppx."""
        peer = os.path.join(os.path.dirname(__file__), "shop.py")
        expected = psn_json("infer", "exec:/usr/bin/python3 %s {endpoint}" % peer, "--observe",
                            "count=12", "-n", "500", "--seed", "5")
        post = psn.infer(shop, {"count": 12}, samples=500, seed=5, quiet=True)
        self.assertEqual(post.to_dict()["posterior"], expected["posterior"])


if __name__ == "__main__":
    unittest.main()
