"""Python programs that know nothing of psn, attached: exact posteriors, and nothing changed elsewhere."""

import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from random import expovariate

import numpy as np
import psn
from numpy.random import default_rng

RNG = np.random.default_rng(5)
STATE = np.random.RandomState(5)
RUNS = 4000
# 4.9 standard errors: one false alarm in a million seeds.
ERRORS = 4.9


def gaussian_by_generator():
    mu = RNG.normal(1, math.sqrt(5))
    return {"mu": mu, "obs0": mu, "obs1": mu}


def gaussian_by_state():
    mu = 1 + math.sqrt(5) * np.random.randn()
    return {"mu": mu, "obs0": mu, "obs1": mu}


def gaussian_by_random():
    mu = random.gauss(1, math.sqrt(5))
    return {"mu": mu, "obs0": mu, "obs1": mu}


def gaussian_by_scipy():
    from scipy import stats
    mu = stats.norm(1, math.sqrt(5)).rvs()
    return {"mu": mu, "obs0": mu, "obs1": mu}


def loop():
    tries = 1
    while random.random() >= 0.4:
        tries += 1
    return {"tries": tries, "y": tries}


def hmm():
    rows = [[1 / 3] * 3, [0.7, 0.2, 0.1], [0.15, 0.7, 0.15], [0.1, 0.3, 0.6]]
    state, levels, states = -1, [], []
    for _ in range(3):
        state = RNG.choice(3, p=rows[state + 1])
        states.append(state)
        levels.append([-1, 0.5, 2][state])
    return {"x": np.array(states), "obs": np.array(levels)}


def branching():
    count = default_rng(3).poisson(4)
    rate, extra = 6, -1
    if count <= 4:
        current, following = 0, 1
        for _ in range(3 * count):
            current, following = following, current + following
        extra = default_rng(3).poisson(4)
        rate = 1 + current + extra
    return {"count": count, "obs": rate}


def laws(n):
    """Many draws of each law, by one name each: of a generator, of the old functions, of random."""
    rng, old, each = np.random.default_rng(3), np.random, range(n // 10)
    return {
        "random": rng.random(n), "uniform": rng.uniform(-1, 3, n), "normal": rng.normal(1, 2, n),
        "standard_normal": rng.standard_normal(n), "lognormal": rng.lognormal(0.3, 0.4, n),
        "exponential": rng.exponential(3, n), "gamma": rng.gamma(2.5, 3, n), "beta": rng.beta(2, 3, n),
        "chisquare": rng.chisquare(5, n), "laplace": rng.laplace(1, 2, n), "weibull": rng.weibull(3, n),
        "rayleigh": rng.rayleigh(2, n), "standard_t": rng.standard_t(9, n), "logistic": rng.logistic(1, 2, n),
        "pareto": rng.pareto(9, n), "poisson": rng.poisson(4, n), "binomial": rng.binomial(20, 0.3, n),
        "geometric": rng.geometric(0.3, n), "negative_binomial": rng.negative_binomial(3, 0.4, n),
        "integers": rng.integers(2, 9, n), "endpoint": rng.integers(1, 6, n, endpoint=True),
        "choice": [rng.choice([1, 5, 7], p=[0.2, 0.5, 0.3]) for _ in each],
        "choice_without": [rng.choice(6, 2, replace=False).sum() for _ in each],
        "permutation": [rng.permutation(5)[0] for _ in each], "multinomial": [rng.multinomial(9, [0.2, 0.3, 0.5])[1] for _ in each],
        "dirichlet": [rng.dirichlet([1, 2, 3])[1] for _ in each],
        "old_normal": old.normal(1, 2, n), "old_rand": old.rand(n), "old_randn": old.randn(n),
        "old_randint": old.randint(2, 9, n), "old_gamma": old.gamma(2.5, 3, n),
        "r_random": [random.random() for _ in each], "r_uniform": [random.uniform(-1, 3) for _ in each],
        "r_gauss": [random.gauss(1, 2) for _ in each], "r_expovariate": [random.expovariate(2) for _ in each],
        "r_gammavariate": [random.gammavariate(2.5, 3) for _ in each], "r_betavariate": [random.betavariate(2, 3) for _ in each],
        "r_lognormvariate": [random.lognormvariate(0.3, 0.4) for _ in each], "r_randint": [random.randint(1, 6) for _ in each],
        "r_weibullvariate": [random.weibullvariate(2, 3) for _ in each], "r_triangular": [random.triangular(0, 3, 1) for _ in each],
        "r_choice": [random.choice([1, 5, 7]) for _ in each], "r_sample": [sum(random.sample(range(6), 2)) for _ in each],
        "r_shuffle": [shuffled()[0] for _ in each], "r_getrandbits": [random.getrandbits(40) for _ in each],
    }


def shuffled():
    things = list(range(5))
    random.shuffle(things)
    return things


def two():
    return {"mu": 1, "obs0": 1, "obs1": 1}


NOISE = {"obs0": lambda x: psn.Normal(x, math.sqrt(2)), "obs1": lambda x: psn.Normal(x, math.sqrt(2))}
ENGINES = {"is": {}, "lmh": {"burn_in": 100}}


def numbers():
    """Of everything that is answered elsewhere."""
    rng, state = np.random.default_rng(7), np.random.RandomState(7)
    np.random.seed(7)
    random.seed(7)
    things = [rng.random(), rng.normal(size=3), rng.integers(5, size=4), rng.choice(5, p=[0.2] * 5), rng.permutation(4),
              rng.poisson(3), rng.standard_normal(2), rng.gamma(2), state.randn(2), state.randint(9, size=3),
              np.random.normal(), np.random.rand(2), np.random.exponential(), random.random(), random.gauss(0, 1),
              random.choice("abc"), random.sample(range(9), 3), random.getrandbits(70), expovariate(2), random.randint(1, 6)]
    return repr(things)


class Attached(unittest.TestCase):
    def near(self, post, name, mean, sd):
        ess = post.ess if post.chains == 0 else 150
        self.assertLess(abs(post.mean(name) - mean), ERRORS * sd / math.sqrt(ess), name)

    def test_gaussian(self):
        programs = [gaussian_by_generator, gaussian_by_state, gaussian_by_random]
        if find_spec("scipy"):
            programs.append(gaussian_by_scipy)
        for program in programs:
            model = psn.attach(program, observe=NOISE)
            for engine, options in ENGINES.items():
                with self.subTest(program.__name__, engine=engine):
                    post = psn.infer(model, {"obs0": 2, "obs1": 3}, engine=engine, samples=RUNS, seed=2, quiet=True, **options)
                    self.near(post, "mu", (0.2 + 2.5) / 1.2, 1 / math.sqrt(1.2))

    def test_loop_of_random_length(self):
        model = psn.attach(loop, observe={"y": lambda y: psn.Normal(y, 1)})
        ps = [0.4 * 0.6 ** (n - 1) * math.exp(-0.5 * (n - 3.5) ** 2) for n in range(1, 100)]
        mean = sum(n * p for n, p in enumerate(ps, 1)) / sum(ps)
        sd = math.sqrt(sum((n - mean) ** 2 * p for n, p in enumerate(ps, 1)) / sum(ps))
        for engine, options in ENGINES.items():
            post = psn.infer(model, {"y": 3.5}, engine=engine, samples=RUNS, seed=3, quiet=True, **options)
            self.near(post, "tries", mean, sd)

    def test_branching(self):
        model = psn.attach(branching, observe={"obs": psn.Poisson})
        poisson = lambda rate, k: math.exp(k * math.log(rate) - rate - math.lgamma(k + 1))  # noqa: E731
        fibonacci = [0, 1]
        while len(fibonacci) < 13:
            fibonacci.append(sum(fibonacci[-2:]))
        joint = [poisson(4, k) * (poisson(6, 6) if k > 4 else sum(
            poisson(4, e) * poisson(1 + fibonacci[3 * k] + e, 6) for e in range(80))) for k in range(60)]
        mean = sum(k * p for k, p in enumerate(joint)) / sum(joint)
        sd = math.sqrt(sum((k - mean) ** 2 * p for k, p in enumerate(joint)) / sum(joint))
        for engine, options in ENGINES.items():
            post = psn.infer(model, {"obs": 6}, engine=engine, samples=RUNS, seed=4, quiet=True, **options)
            self.near(post, "count", mean, sd)

    def test_hmm(self):
        model = psn.attach(hmm, observe={"obs": lambda levels: psn.Normal(levels, 1)})
        data, levels = [-0.8, 0.4, 1.1], [-1, 0.5, 2]
        rows = [[1 / 3] * 3, [0.7, 0.2, 0.1], [0.15, 0.7, 0.15], [0.1, 0.3, 0.6]]
        total = last = square = 0.0
        for a in range(3):
            for b in range(3):
                for c in range(3):
                    p = rows[0][a] * rows[a + 1][b] * rows[b + 1][c]
                    p *= math.exp(-0.5 * sum((levels[s] - d) ** 2 for s, d in zip((a, b, c), data)))
                    total, last, square = total + p, last + p * c, square + p * c * c
        mean = last / total
        for engine, options in ENGINES.items():
            post = psn.infer(model, {"obs": data}, engine=engine, samples=RUNS, seed=5, quiet=True, **options)
            got = np.average(post["x"][:, 2], weights=post.weights)
            self.assertLess(abs(got - mean), ERRORS * math.sqrt(square / total - mean**2) / math.sqrt(150))

    def test_sites_and_names(self):
        model = psn.attach(gaussian_by_generator)
        ((place, kind, _),) = model.sites(3)
        self.assertRegex(place, r"^test_attach.py:gaussian_by_generator:\d+$")
        self.assertEqual(kind, "Normal")
        named = psn.attach(gaussian_by_generator, sites={place: "level"}, observe=NOISE, name="named")
        post = psn.infer(named, {"obs0": 2, "obs1": 3}, samples=500, quiet=True)
        self.assertAlmostEqual(post.mean("level"), post.mean("mu"), 12)

    def test_arrays_are_one_choice(self):
        def program():
            return {"total": RNG.normal(size=(2, 3)).sum() + STATE.standard_normal(4).sum() + RNG.random(2).sum()}
        kinds = sorted(kind for _, kind, _ in psn.attach(program).sites(2))
        self.assertEqual(kinds, ["Normal[2,3]", "Normal[4]", "Uniform[2]"])

    def test_what_is_not_answered_is_said(self):
        with self.assertRaisesRegex(psn.ModelError, "no random choice"):
            psn.simulate(psn.attach(two), 2, quiet=True)
        model = psn.attach(lambda: {"x": RNG.vonmises(0, 1)}, name="odd")
        with self.assertRaisesRegex(psn.ModelError, "does not answer Generator.vonmises"):
            psn.simulate(model, 2, quiet=True, max_failures=0)

    def test_a_script(self):
        with tempfile.TemporaryDirectory() as folder:
            script, settings = os.path.join(folder, "shop.py"), os.path.join(folder, "shop.toml")
            with open(script, "w") as file:
                file.write("import numpy as np\nrate = np.random.gamma(2, 1)\nprint('mean', 8 * rate)\n"
                           "print('rate', rate)\n")
            found = subprocess.run([sys.executable, "-m", "psn.attach", script], capture_output=True, text=True)
            self.assertIn("# Gamma, 1 a run\n[site.site1]\nat = 'shop.py:module:2'", found.stdout, found.stderr)
            with open(settings, "w") as file:
                file.write("[site.level]\nat = 'shop.py:module:2'\n[observe.count]\npattern = 'mean ([0-9.]+)'\n"
                           "law = 'Poisson'\n[tag.rate]\npattern = 'rate ([0-9.]+)'\n")
            post = psn.infer("exec:%s -m psn.attach --at {endpoint} --settings %s %s" % (sys.executable, settings, script),
                             {"count": 12}, samples=1000, quiet=True, workers=2)
            self.near(post, "level", 14 / 9, math.sqrt(14) / 9)  # Gamma(2 + 12, 1 + 8)
            self.assertAlmostEqual(post.mean("level"), post.mean("rate"), 6)

    def test_every_law_is_its_own(self):
        own, answered = laws(200_000), {}

        def program():
            answered.update(laws(4000))

        psn.simulate(psn.attach(program), 1, seed=6, quiet=True)
        for name, draws in own.items():
            draws, others = np.asarray(draws, float), np.asarray(answered[name], float)
            error = draws.std() * math.sqrt(1 / len(draws) + 1 / len(others))
            self.assertEqual(len(others), 4000 if len(draws) == 200_000 else 400, name)
            self.assertLess(abs(draws.mean() - others.mean()), ERRORS * error, name)
            self.assertLess(abs(draws.std() - others.std()), draws.std() / 4, name)

    def test_networks_are_learned_from_it(self):
        model = psn.attach(gaussian_by_generator, observe=NOISE)
        network = psn.train_inference(model, traces=3000, quiet=True)
        post = psn.infer(model, {"obs0": 2, "obs1": 3}, network=network, samples=1000, quiet=True)
        self.near(post, "mu", (0.2 + 2.5) / 1.2, 1 / math.sqrt(1.2))
        self.assertGreater(post.ess, 500)

    def test_elsewhere_nothing_changes(self):
        plain = subprocess.run([sys.executable, "-c", "import test_attach as t; print(t.numbers())"],
                               cwd=os.path.dirname(os.path.abspath(__file__)), capture_output=True, text=True)
        psn.attach(two)
        self.assertEqual(plain.stdout.strip(), numbers(), plain.stderr)


if __name__ == "__main__":
    unittest.main()
