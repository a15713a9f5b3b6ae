"""numpy.random, random and what draws by them (scipy.stats), answered by an engine while a run of an attached program
is under way; at all other times they are what they were, number by number.

install() puts subclasses in the places of numpy's generators, and functions in those of random.Random's methods, also
where other modules have them already.
"""

import math
import os
import random
import sys
import threading

import numpy as np

MOST_CATEGORIES = 256  # larger choices among equals are drawn as one number between 0 and 1
_INTERNAL = tuple(os.path.dirname(os.path.abspath(m.__file__)) + os.sep for m in (np, sys.modules["psn"]))
_local = threading.local()  # of a run: each has a thread state of its own


class Run:
    """A run under way: whom it asks, and what its choices are called."""

    def __init__(self, ask, families, rules, depth):
        self.ask, self.families, self.rules, self.depth = ask, families, rules, depth
        self.visits, self.draws = {}, 0

    def __enter__(self):
        self.outer, _local.run = getattr(_local, "run", None), self

    def __exit__(self, *_):
        _local.run = self.outer

    def place(self):
        """"shop.py:simulate:12<shop.py:main:30": the call in the program, and those above it."""
        frame, calls = sys._getframe(1), []
        while frame is not None and len(calls) < self.depth:
            code = frame.f_code
            inside = code.co_filename.startswith(_INTERNAL) or "/scipy/" in code.co_filename
            if not inside and code.co_filename != random.__file__ and "runpy" not in code.co_filename:
                calls.append("%s:%s:%d" % (os.path.basename(code.co_filename), code.co_name.strip("<>"), frame.f_lineno))
            frame = frame.f_back
        return "<".join(calls)

    def draw(self, family, *parameters):
        make = getattr(self.families, family)
        self.draws += 1
        place = self.place()
        rule = self.rules.get(place) or self.rules.get(place.split("<")[0]) or {}
        name, index = rule.get("name", ""), None
        if rule.get("list"):
            index = self.visits[name] = self.visits.get(name, -1) + 1
        return self.ask(make(*parameters), name, "" if name else place, index, rule.get("control", True))


def current():
    return getattr(_local, "run", None)


def _shape(size, parameters):
    """Of what is drawn; None: a number."""
    if size is not None:
        return tuple(size) if isinstance(size, (tuple, list)) else (int(size),)
    shape = np.broadcast_shapes(*(np.shape(p) for p in parameters))
    return shape if shape or any(isinstance(p, np.ndarray) for p in parameters) else None


def draw(family, parameters, size=None, whole=False):
    """Independent draws of one family."""
    shape = _shape(size, parameters)
    if not shape:
        value = current().draw(family, *(float(p) for p in parameters))
        value = int(value) if whole else float(value)
        return value if shape is None else np.asarray(value)
    if 0 in shape:
        return np.empty(shape, int if whole else float)
    spread = [np.broadcast_to(np.asarray(p, float), shape) for p in parameters]
    value = np.asarray(current().draw(family, *(np.ascontiguousarray(p) for p in spread)), float).reshape(shape)
    return value.astype(np.int64) if whole else value


def below_one(value):
    return np.minimum(value, 1 - 2.0**-53) if isinstance(value, np.ndarray) else min(value, 1 - 2.0**-53)


def uniform(size=None):
    return below_one(draw("Uniform", (0.0, 1.0), size))


def category(weights):
    weights = np.asarray(weights, float)
    return 0 if weights.size == 1 else int(current().draw("Categorical", weights))


def below(n, size=None):
    """A whole number below n."""
    n = int(n)
    if size is None:
        return category(np.full(n, 1 / n)) if n <= MOST_CATEGORIES else min(int(uniform() * n), n - 1)
    return np.minimum((uniform(size) * n).astype(np.int64), n - 1)


def order(n):
    """A random order of n things."""
    left = list(range(n))
    return [left.pop(below(len(left))) for _ in range(n)]


class Laws:
    """What Generator and RandomState have in common, as methods that ask."""

    def uniform(self, low=0.0, high=1.0, size=None):
        return draw("Uniform", (low, high), size)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return draw("Normal", (loc, scale), size)

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        return draw("LogNormal", (mean, sigma), size)

    def exponential(self, scale=1.0, size=None):
        return draw("Exponential", (1 / np.asarray(scale, float) if np.ndim(scale) else 1 / scale,), size)

    def gamma(self, shape, scale=1.0, size=None):
        return draw("Gamma", (shape, 1 / np.asarray(scale, float) if np.ndim(scale) else 1 / scale), size)

    def beta(self, a, b, size=None):
        return draw("Beta", (a, b), size)

    def chisquare(self, df, size=None):
        return draw("Gamma", (df / 2, 0.5), size)

    def laplace(self, loc=0.0, scale=1.0, size=None):
        return draw("Laplace", (loc, scale), size)

    def weibull(self, a, size=None):
        return draw("Weibull", (1.0, a), size)

    def rayleigh(self, scale=1.0, size=None):
        return draw("Weibull", (scale * math.sqrt(2), 2.0), size)

    def standard_t(self, df, size=None):
        return draw("StudentT", (df, 0.0, 1.0), size)

    def standard_cauchy(self, size=None):
        return draw("StudentT", (1.0, 0.0, 1.0), size)

    def logistic(self, loc=0.0, scale=1.0, size=None):
        u = uniform(size)
        return loc + scale * (np.log(u) - np.log1p(-u))

    def pareto(self, a, size=None):
        return np.expm1(draw("Exponential", (1.0,), size) / a)

    def poisson(self, lam=1.0, size=None):
        return draw("Poisson", (lam,), size, whole=True)

    def binomial(self, n, p, size=None):
        return draw("Binomial", (n, p), size, whole=True)

    def geometric(self, p, size=None):
        return 1 + draw("Geometric", (p,), size, whole=True)  # numpy counts the success as well

    def negative_binomial(self, n, p, size=None):
        return draw("NegativeBinomial", (n * (1 - p) / p, n), size, whole=True)

    def dirichlet(self, alpha, size=None):
        expect(size is None, "dirichlet with a size")
        return np.asarray(current().draw("Dirichlet", np.asarray(alpha, float)))

    def multivariate_normal(self, mean, cov, size=None, **_):
        expect(size is None, "multivariate_normal with a size")
        return np.asarray(current().draw("MultivariateNormal", np.asarray(mean, float), np.asarray(cov, float)))

    def multinomial(self, n, pvals, size=None):
        expect(size is None, "multinomial with a size")
        counts, left, share = [], int(n), 1.0
        for p in list(pvals)[:-1]:
            counts.append(draw("Binomial", (left, min(1.0, p / share)), whole=True) if left and share > 0 else 0)
            left, share = left - counts[-1], share - p
        return np.array([*counts, left])

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        things = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        weights = np.full(len(things), 1 / len(things)) if p is None else np.array(p, float)
        picked = []
        for _ in range(1 if size is None else int(np.prod(size))):
            picked.append(category(weights))
            if not replace:
                weights[picked[-1]] = 0
        if size is None:
            return np.take(things, picked[0], axis)
        chosen = np.take(things, picked, axis)
        return chosen.reshape(size) if np.ndim(a) < 2 else chosen

    def permutation(self, x, axis=0):
        things = np.arange(x) if np.ndim(x) == 0 else np.asarray(x)
        return np.take(things, order(things.shape[axis]), axis)

    def shuffle(self, x, axis=0):
        x[:] = [x[i] for i in order(len(x))] if isinstance(x, list) else np.take(x, order(x.shape[axis]), axis)


class GeneratorLaws(Laws):
    def random(self, size=None, dtype=np.float64, out=None):
        return filled(out, uniform(out.shape if out is not None else size)) if out is not None else uniform(size)

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        value = draw("Normal", (0.0, 1.0), out.shape if out is not None else size)
        return filled(out, value)

    def standard_exponential(self, size=None, dtype=np.float64, method="zig", out=None):
        return filled(out, draw("Exponential", (1.0,), out.shape if out is not None else size))

    def standard_gamma(self, shape, size=None, dtype=np.float64, out=None):
        return filled(out, draw("Gamma", (shape, 1.0), size))

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        low, high = (0, low) if high is None else (low, high)
        return low + below(high - low + bool(endpoint), size)


class StateLaws(Laws):
    def random_sample(self, size=None):
        return uniform(size)

    random = random_sample

    def rand(self, *size):
        return uniform(size or None)

    def randn(self, *size):
        return draw("Normal", (0.0, 1.0), size or None)

    def standard_normal(self, size=None):
        return draw("Normal", (0.0, 1.0), size)

    def standard_exponential(self, size=None):
        return draw("Exponential", (1.0,), size)

    def standard_gamma(self, shape, size=None):
        return draw("Gamma", (shape, 1.0), size)

    def randint(self, low, high=None, size=None, dtype=int):
        low, high = (0, low) if high is None else (low, high)
        return low + below(high - low, size)

    def random_integers(self, low, high=None, size=None):
        low, high = (1, low) if high is None else (low, high)
        return low + below(high - low + 1, size)


def filled(out, value):
    if out is None:
        return value
    out[...] = value
    return out


def expect(condition, what):
    if not condition:
        raise NotImplementedError("psn.attach does not answer %s" % what)
