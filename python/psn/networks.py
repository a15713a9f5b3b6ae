"""Networks as objects: surrogates and inference networks."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from psn import _core
from psn.programs import AnyModel
from psn.running import path_of, run
from psn.simulation import Samples, graph, simulate


class Network:
    """A trained network in its .psn file. A surrogate stands wherever a model does, an inference
    network wherever a `network` is asked for."""

    def __init__(self, path, training=None):
        self.path = os.fspath(path)
        self.training = training  # how it went, if it was trained just now
        self._inspected = _core.inspect(self.path)

    @property
    def purpose(self):
        """"surrogate" or "inference"."""
        return self._inspected.purpose.name

    @property
    def config(self):
        """The settings that it was made with."""
        return json.loads(self._inspected.config)

    @property
    def history(self):
        """The course of its training."""
        return json.loads(self._inspected.history or "[]")

    @property
    def nodes(self):
        """All that it knows, the beginning and the end of a trace first; .successors have numbers
        of nodes."""
        return self._inspected.nodes

    @property
    def addresses(self):
        """What it knows: each has .address, .name, .role, .family and .shape."""
        return [node for node in self._inspected.nodes if node.choice]

    def simulate(self, traces: int = 1000, **options: Any) -> Samples:
        """Run the surrogate forward; as psn.simulate."""
        return simulate(self, traces, **options)

    def graph(self, traces: int = 1000, **options: Any) -> list:
        """Its address transitions; as psn.graph."""
        return graph(self, traces, **options)

    def log_prob(self, traces: Any, expand: bool = False) -> Any:
        """The log density of traces of a psn.Store under the surrogate, as an array: -inf for what it
        cannot make; with expand=True as if it had grown by that (Theorem 2)."""
        if hasattr(traces, "steps"):
            return self.log_prob([traces], expand)[0]
        return _core.log_prob(self.path, list(traces), expand)

    def save(self, path):
        """A copy of its file."""
        shutil.copyfile(self.path, os.fspath(path))

    def __fspath__(self):
        return self.path

    def __repr__(self):
        verdict = "\n" + self.training.verdict if self.training and self.training.verdict else ""
        return "<psn.Network: %s, %d addresses, %d parameters, '%s'>%s" % (
            self.purpose, len(self.addresses), self._inspected.parameters, self.path, verdict)


def compare(model: AnyModel, surrogate: Any, traces: int = 10_000, *, min_count: int = 1000,
            bin: str = "", by: str = "", bins: int = 10, range: tuple[float, float] | None = None,
            out: Any = None, **options: Any) -> Any:
    """How well a surrogate stands in for its simulator; docs/comparing.md says what the figures mean.

    traces       of each
    min_count    transitions count from addresses that are left so often in both
    bin, by, bins, range  also compare the mean of one variable in bins of another
    out          a folder for the result, as `psn compare --out` writes it, with its report

    More arguments: see psn.running. Returns .conditional (.kl, .standard_error, .addresses),
    .transition, .frequency and .path_total_variation (each with .value and .floor: what it is
    between two samples of the simulator), .conditional_means; .to_dict() has all.
    """
    with run(options) as r:
        job = _core.ComparisonJob()
        r.simulation(job.simulation, model, traces)
        job.surrogate = r.called.name(surrogate)
        job.min_count, job.bin, job.by, job.bins, job.range = min_count, bin, by, bins, range
        out = path_of(out)
        result = _core.compare(job, r.host(), out, r.config("compare", {
            "model": job.simulation.model, "samples": traces, "surrogate": job.surrogate,
            "min_count": min_count, "bin": bin, "by": by, "bins": bins, "range": range,
            "out": out}))
        r.page(out)
        r.warn(_core.failure_warnings(result.failures))
        return result
