"""Training, networks, stores and what is done with them."""

import os
import signal
import threading
import unittest

import numpy as np
import psn
from support import InFolder, shop

FEW = {"traces": 3000, "validation": 500, "quiet": True}


class Networks(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.surrogate = psn.train_surrogate(shop, **FEW)
        cls.inference = psn.train_inference(shop, **FEW)

    def test_a_surrogate(self):
        s = self.surrogate
        self.assertEqual(s.purpose, "surrogate")
        self.assertLess(s.training.last.validation.kl, 0.1)
        self.assertEqual([node.name for node in s.addresses][:2], ["rate", "count"])
        self.assertGreater(len(s.history), 0)
        self.assertEqual(s.config["purpose"], "surrogate")
        runs = s.simulate(4000, quiet=True)
        # Gamma(2, 1) has mean 2 and variance 2; a surrogate of so few runs is not exact.
        self.assertLess(abs(runs.mean("rate") - 2), 0.2)
        self.assertEqual(s.graph(100, quiet=True)[0].to, "rate__Gamma__1")
        post = psn.infer(s, {"count": 12}, quiet=True)
        self.assertLess(abs(post.mean("rate") - 14 / 9), 0.1)
        result = psn.compare(shop, s, 2000, quiet=True)
        self.assertLess(result.conditional.kl, 0.1)

    def test_an_inference_network(self):
        post = psn.infer(shop, {"count": 12}, network=self.inference, samples=4000, quiet=True)
        self.assertLess(abs(post.mean("rate") - 14 / 9), 5 * 14**0.5 / 9 / post.ess**0.5)
        draws = psn.infer(shop, {"count": 12}, network=self.inference, engine="network",
                          samples=4000, quiet=True)
        self.assertTrue(draws.summary().approximate)
        again = psn.infer(self.surrogate, {"count": 12}, network=self.inference, correct=500,
                          simulator=shop, quiet=True)
        self.assertEqual(again.result.correction.runs, 500)
        self.assertLess(abs(again.mean("rate") - 14 / 9), 0.2)
        with self.assertRaisesRegex(psn.InvalidArgument, "is an inference network"):
            self.inference.simulate(10, quiet=True)

    def test_densities_of_traces(self):
        store = psn.generate(shop, 50, self.path("traces"), quiet=True)
        exact = np.array([sum(step.log_prob for step in trace.steps) for trace in store])
        learned = self.surrogate.log_prob(store)
        self.assertEqual(learned.shape, (50,))
        self.assertLess(abs(np.mean(exact - learned)), 0.2)
        self.assertEqual(self.surrogate.log_prob(store[3]), learned[3])

    def test_a_file_of_its_own(self):
        self.surrogate.save(self.path("s.psn"))
        again = psn.Network(self.path("s.psn"))
        self.assertIn("surrogate, ", repr(again))
        np.testing.assert_array_equal(again.simulate(50, quiet=True)["rate"],
                                      self.surrogate.simulate(50, quiet=True)["rate"])
        path = psn.train_surrogate(shop, traces=200, validation=0, quiet=True).path
        self.assertFalse(os.path.exists(path))  # it went with the network

    def test_settings(self):
        network = psn.train_inference(shop, 200, validation=0, core_dim=20, tags=False,
                                      observe_embedding={"count": {"hidden_dim": 7}}, quiet=True)
        self.assertEqual(network.config["lstm_dim"], 20)
        for settings, words in (({"batch_sise": 3}, "did you mean 'batch_size'"),
                                ({"loss": "none"}, "`loss` is nll, divergence, not 'none'"),
                                ({"batch_size": -1}, "`batch_size`"),
                                ({"variable_layers": {"width": 1}}, "layers have no 'width'"),
                                ({"preset": "best"}, "no preset 'best'")):
            with self.subTest(settings), self.assertRaisesRegex(psn.InvalidArgument, words):
                psn.train_surrogate(shop, 200, quiet=True, **settings)

    def test_a_budget(self):
        network = psn.train_surrogate(shop, budget="2s", quiet=True)
        self.assertGreater(network.training.last.traces, 100)

    def test_interrupted(self):
        out = self.path("s.psn")
        main = threading.main_thread().ident
        threading.Timer(1, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        with self.assertRaisesRegex(KeyboardInterrupt, "interrupted; '.*s.checkpoint.psn' holds"):
            psn.train_surrogate(shop, 10_000_000, out=out, validation=10, quiet=True)
        self.assertTrue(os.path.exists(self.path("s.checkpoint.psn")))
        with self.assertRaisesRegex(psn.InvalidArgument, "`resume`.*another `batch_size`"):
            psn.train_surrogate(shop, 2000, out=out, validation=10, resume=True, quiet=True)

    def test_stopped_by_time_and_resumed(self):
        settings = {"traces": 6000, "validation": 100, "seed": 4, "quiet": True}
        whole = psn.train_surrogate(shop, **settings)
        with self.assertRaisesRegex(KeyboardInterrupt, "of 6000 traces in the time; "):
            psn.train_surrogate(shop, out=self.path("s.psn"), max_time=0.05, **settings)
        resumed = psn.train_surrogate(shop, out=self.path("s.psn"), resume=True, **settings)
        np.testing.assert_array_equal(resumed.simulate(20, quiet=True)["rate"],
                                      whole.simulate(20, quiet=True)["rate"])


class Predictions(unittest.TestCase):
    def test_of_a_posterior(self):
        post = psn.infer(shop, {"count": 12}, samples=5000, quiet=True)
        again = post.predict(4000, quiet=True)
        self.assertEqual(again.names, ["count"])
        # Negative binomial of mean 8 * 14 / 9 and variance mean + 8^2 * 14 / 9^2.
        mean, sd = 8 * 14 / 9, (8 * 14 / 9 + 64 * 14 / 81)**0.5
        self.assertLess(abs(again.mean("count") - mean), 5 * sd / 3000**0.5)
        self.assertLess(abs(again.std("count") - sd), 0.1 * sd)


class Stores(InFolder):
    def test_a_sequence(self):
        store = psn.generate(shop, 2500, self.path("traces"), seed=2, quiet=True)
        self.assertEqual(len(store), 2500)
        self.assertEqual(len(list(store)), 2500)
        trace = store[-1]
        self.assertEqual([step.name for step in trace.steps], ["rate", "count"])
        self.assertEqual(trace["rate"], trace.steps[0].value)
        self.assertEqual(trace.result, trace["rate"])
        self.assertEqual(store[10:13][1]["rate"], store[11]["rate"])
        with self.assertRaises(IndexError):
            store[2500]
        self.assertEqual(store.contents().traces, 2500)
        self.assertEqual(store.verify(quiet=True), 2500)
        self.assertEqual(store.export(self.path("t.npz")), 2500)
        np.testing.assert_array_equal(np.load(self.path("t.npz"))["rate"][11], store[11]["rate"])
        self.assertEqual(len(psn.generate(shop, 2600, store.path, seed=2, quiet=True)), 2600)
        network = psn.train_surrogate(data=store, traces=2000, validation=100, quiet=True)
        self.assertEqual(network.purpose, "surrogate")
        with self.assertRaises(psn.DataError):
            psn.Store(self.path("nothing"))


class Workers(unittest.TestCase):
    def test_same_numbers(self):
        alone = psn.infer(shop, {"count": 12}, samples=300, quiet=True)
        two = psn.infer(shop, {"count": 12}, samples=300, workers=2, quiet=True)
        np.testing.assert_array_equal(alone["rate"], two["rate"])


if __name__ == "__main__":
    unittest.main()
