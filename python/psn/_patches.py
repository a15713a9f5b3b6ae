"""Puts what is answered (psn._answered) in the places of numpy.random and random."""

import contextlib
import random
import sys
import threading

import numpy as np

from psn import _answered

_lock = threading.Lock()
_installed = []
_modules_seen = 0
# What does not draw.
_SILENT = {"seed", "get_state", "set_state", "bit_generator", "spawn"}


def _subclass(base, laws):
    """`base` with methods that ask while a run is under way."""

    class Kind(type):
        def __instancecheck__(cls, thing):
            return isinstance(thing, base)

    def method(name):
        original, answer = getattr(base, name), getattr(laws, name, None)

        def call(self, *args, **kwargs):
            if _answered.current() is None:
                return original(self, *args, **kwargs)
            _answered.expect(answer is not None, "%s.%s" % (base.__name__, name))
            return answer(self, *args, **kwargs)

        call.__name__, call.__doc__ = name, original.__doc__
        return call

    names = [n for n in dir(base) if not n.startswith("_") and n not in _SILENT and callable(getattr(base, n))]
    return Kind(base.__name__, (base,), {"__module__": base.__module__, **{n: method(n) for n in names}})


def _bound_to(thing, owner):
    return getattr(thing, "__self__", None) is owner and hasattr(thing, "__name__")


def _patch_random():
    cls, original = random.Random, {}
    answers = {
        "random": lambda self: _answered.uniform(),
        "getrandbits": lambda self, k: _bits(k),
        "_randbelow": lambda self, n: _answered.below(n),
        "uniform": lambda self, a, b: _between(a, b),
        "gauss": lambda self, mu=0.0, sigma=1.0: _answered.draw("Normal", (mu, sigma)),
        "normalvariate": lambda self, mu=0.0, sigma=1.0: _answered.draw("Normal", (mu, sigma)),
        "expovariate": lambda self, lambd: _answered.draw("Exponential", (lambd,)),
        "gammavariate": lambda self, alpha, beta: _answered.draw("Gamma", (alpha, 1 / beta)),
        "betavariate": lambda self, alpha, beta: _answered.draw("Beta", (alpha, beta)),
        "lognormvariate": lambda self, mu, sigma: _answered.draw("LogNormal", (mu, sigma)),
        "weibullvariate": lambda self, alpha, beta: _answered.draw("Weibull", (alpha, beta)),
    }

    def method(name):
        original[name] = getattr(cls, name)

        def call(self, *args, **kwargs):
            if _answered.current() is None or isinstance(self, random.SystemRandom):
                return original[name](self, *args, **kwargs)
            return answers[name](self, *args, **kwargs)

        call.__name__ = name
        return call

    for name in answers:
        setattr(cls, name, method(name))


def _between(a, b):
    return a if a == b else _answered.draw("Uniform", (min(a, b), max(a, b)))


def _bits(k):
    value = 0
    for taken in range(0, k, 32):
        width = min(32, k - taken)
        value = value << width | int(_answered.uniform() * 2**width)
    return value


def _replacements():
    """A function that gives what is to stand in the place of a thing, or the thing."""
    Generator, State = np.random.Generator, np.random.RandomState
    NewGenerator = _subclass(Generator, _answered.GeneratorLaws)
    NewState = _subclass(State, _answered.StateLaws)
    old_rng, old_state = np.random.default_rng, np.random.mtrand._rand
    new_state = NewState(old_state._bit_generator)
    new_state.set_state(old_state.get_state(legacy=False))

    def default_rng(seed=None):
        made = old_rng(seed)
        return NewGenerator(made.bit_generator) if type(made) is Generator else made

    default_rng.__doc__ = old_rng.__doc__

    def replace(thing):
        if thing is old_rng:
            return default_rng
        if thing is Generator:
            return NewGenerator
        if thing is State:
            return NewState
        if thing is old_state:
            return new_state
        if type(thing) is Generator:
            return NewGenerator(thing.bit_generator)
        if type(thing) is State:
            copy = NewState(thing._bit_generator)
            copy.set_state(thing.get_state(legacy=False))
            return copy
        if _bound_to(thing, old_state):
            return getattr(new_state, thing.__name__)
        if _bound_to(thing, random._inst):
            return getattr(random._inst, thing.__name__)
        return thing

    return replace


def _replace_in(names, replace):
    for name, thing in list(names.items()):
        other = replace(thing)
        if other is not thing and other != thing:
            names[name] = other


def install():
    """Once; then again for what other modules have imported since."""
    global _modules_seen
    if len(sys.modules) == _modules_seen:
        return
    with _lock:
        if not _installed:
            _patch_random()
            _installed.append(_replacements())
        replace = _installed[0]
        for module in list(sys.modules.values()):
            name = getattr(module, "__name__", "") or ""
            if name.split(".")[0] in ("psn", "scipy") or (name.startswith("numpy") and name not in _PATCHED):
                continue
            try:
                names = vars(module)
            except TypeError:
                continue
            _replace_in(names, replace)
        _patch_scipy(replace)
        _modules_seen = len(sys.modules)


def replace_around(function):
    """What a function has from around it, also if its module is none that Python knows."""
    _replace_in(getattr(function, "__globals__", {}), _installed[0])
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # an empty one
            cell.cell_contents = _installed[0](cell.cell_contents)


_PATCHED = {"numpy.random", "numpy.random.mtrand"}


def _patch_scipy(replace):
    """Its laws keep numpy's generator from when they were made."""
    stats = sys.modules.get("scipy.stats")
    for law in list(vars(stats).values()) if stats else ():
        if hasattr(law, "_random_state"):
            law._random_state = replace(law._random_state)
