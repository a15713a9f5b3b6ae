"""Programs that know nothing of psn, as models: psn.attach, and what python3 -m psn.attach runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import psn
from psn import _answered, _core, _patches
from psn.programs import Model


def _ask_core(distribution, name, address, index, control):
    return _core.sample(distribution, name or None, address=address or None, index=index, control=control)


class AttachedModel(Model):
    """A function that draws by numpy.random, random or scipy.stats, as a model: psn.attach."""

    def __init__(self, function, observe, sites, depth, name):
        super().__init__(self._run, name or getattr(function, "__name__", "program"))
        self.attached, self.observed, self.depth = function, dict(observe or {}), depth
        self.rules = _ByPlace((str(at), _rule(rule)) for at, rule in (sites or {}).items())
        self._seen = None
        _patches.install()
        _patches.replace_around(function)

    def __call__(self, *args, **kwargs):
        return self.attached(*args, **kwargs)

    def _run(self):
        _patches.install()  # modules that the function itself has imported
        run = _answered.Run(self._ask, psn, self.rules, self.depth)
        with run:
            returned = self.attached()
        if run.draws == 0:
            raise _core.ModelError("psn.attach: '%s' made no random choice that psn could answer: has it a generator that "
                                   "was made before psn.attach, in an object of its own?" % self.name)
        self._tell(returned)
        return returned if _is_numbers(returned) else None

    def _ask(self, distribution, name, address, index, control):
        if self._seen is not None:
            kind = distribution.family + ("[%s]" % ",".join(map(str, distribution.shape)) if distribution.shape else "")
            self._seen[address or name, kind] = self._seen.get((address or name, kind), 0) + 1
        return _ask_core(distribution, name, address, index, control)

    def _tell(self, returned):
        parts = returned if isinstance(returned, Mapping) else {"result": returned}
        missing = [name for name in self.observed if name not in parts]
        if missing:
            raise _core.InvalidArgument("psn.attach: '%s' returns no '%s'" % (self.name, missing[0]))
        for name, value in parts.items():
            measure = self.observed.get(name)
            if measure is not None:
                psn.observe(measure(value), name)
            elif name != "result" and _is_numbers(value):
                psn.tag(value, name)

    def sites(self, runs: int = 5, seed: int = 0) -> list[tuple[str, str, int]]:
        """The random choices that a few runs make: address, family, and how often they came up in all."""
        self._seen = {}
        try:
            psn.simulate(self, runs, seed=seed, quiet=True)
            return [(at, family, count) for (at, family), count in self._seen.items()]
        finally:
            self._seen = None


class _ByPlace(dict):
    """Rules by place, or by line alone."""

    def get(self, place, default=None):
        found = super().get(place)
        return found if found is not None else super().get(place.split("<")[0].split(":")[-1], default)


def _rule(rule):
    return {"name": rule} if isinstance(rule, str) else dict(rule)


def _is_numbers(value):
    try:
        return value is not None and np.asarray(value, float).size > 0
    except (TypeError, ValueError):
        return False


def attach(function: Callable[[], Any], *, observe: Mapping[str, Callable[[Any], Any]] | None = None,
           sites: Mapping[Any, Any] | None = None, depth: int = 4, name: str | None = None) -> AttachedModel:
    """A function that draws by numpy.random, random or scipy.stats as a model, without a change to it.

        def shop():
            rate = rng.gamma(2, 1)
            return {"rate": rate, "mean": 8 * rate}

        model = psn.attach(shop, observe={"mean": lambda mean: psn.Poisson(mean)})
        psn.infer(model, {"mean": 12})

    observe  how what it returns is measured: for a key of the returned dict (or "result"), a function from the value
             to a distribution; other numbers of the dict are tags
    sites    names of choices: a line of the program, or an address that model.sites() prints, to a name, or to
             {"name": ..., "list": True, "control": False}
    depth    calls of the stack that tell choices apart

    Elsewhere the function, numpy.random, random and scipy.stats do what they did, number by number.
    """
    return AttachedModel(function, observe, sites, depth, name)
