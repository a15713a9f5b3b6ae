"""Forward runs of a model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from psn import _core
from psn.columns import Columns
from psn.programs import AnyModel
from psn.running import path_of, run
from psn.tables import html_table, table


class Samples(Columns):
    """What forward runs came to: columns of equal weight, and some whole traces."""

    def __init__(self, result):
        super().__init__(result.samples)
        self.result = result

    @property
    def traces(self):
        """Those that were recorded: each has .steps and .log_joint."""
        return self.result.records

    def to_dict(self) -> dict[str, Any]:
        """All figures, as `psn simulate --json` has them."""
        return self.result.to_dict()

    def __repr__(self):
        r = self.result
        return "<psn.Samples: %d runs of %s, %.3g random choices each, of %s>" % (
            len(self), r.model, r.mean_length, ", ".join(self.names))


def simulate(model: AnyModel, traces: int = 1000, *, queries: Sequence[str] = (),
             held: Mapping[str, Any] | None = None, record: int = 0,
             simulator: AnyModel | None = None, unknown: str = "renormalise", out: Any = None,
             **options: Any) -> Samples:
    """Run a model forward, so often.

    queries      what to keep of each run, by name or address; by default all named variables that
                 every run has; "result" is what the program returns
    held         {name: value}: latents to hold at a value (an intervention)
    record       keep everything that the first so many runs did, in .traces
    unknown, simulator  of a surrogate, at addresses that it does not know: "renormalise" (never go
                 there), "stop" (an error), "simulator" (go on in that model)
    out          a folder for the result, as `psn simulate --out` writes it, with its report

    More arguments: see psn.running. Returns Samples.
    """
    with run(options) as r:
        job = _core.SimulationJob()
        r.simulation(job.simulation, model, traces)
        r.surrogate(job.surrogate, unknown, simulator)
        job.queries = list(queries)
        job.held = held or {}
        out = path_of(out)
        job.recorded = max(record, _core.traces_kept if out else 0)
        job.distributions = record > 0
        job.columns = True
        result = _core.simulate(job, r.host(), out, r.config("simulate", {
            "model": job.simulation.model, "samples": traces, "given": held, "query": job.queries,
            "show": record, "unknown": unknown, "simulator": job.surrogate.simulator,
            "out": out}))
        r.page(out)
        r.warn(_core.failure_warnings(result.report.failures)
               + _core.surrogate_warnings(job.simulation.model, result.report))
        return Samples(result)


def graph(model: AnyModel, traces: int = 1000, *, sites: bool = False,
          held: Mapping[str, Any] | None = None, simulator: AnyModel | None = None,
          unknown: str = "renormalise", min_probability: float = 0, out: Any = None,
          **options: Any) -> list:
    """The address transitions of a model: how often each choice is followed by each other. Returns
    edges with .origin, .to, .count and .probability; sites=True: between sites, without instances.

    out              a folder for the result, as `psn graph --out` writes it, with its report
    min_probability  of edges in the DOT file there

    Other arguments as for psn.simulate.
    """
    with run(options) as r:
        job = _core.GraphJob()
        r.simulation(job.simulation, model, traces)
        r.surrogate(job.surrogate, unknown, simulator)
        job.held = held or {}
        job.sites, job.min_probability = sites, min_probability
        out = path_of(out)
        result = _core.graph(job, r.host(), out, r.config("graph", {
            "model": job.simulation.model, "samples": traces, "sites": sites,
            "min_probability": min_probability, "given": held, "unknown": unknown,
            "simulator": job.surrogate.simulator, "out": out}))
        r.page(out)
        r.warn(_core.failure_warnings(result.report.failures) + result.loop_warnings)
        return result.edges


class Predictions(Columns):
    """What would be observed again."""

    def __init__(self, result):
        super().__init__(result.samples)
        self.result = result

    def to_dict(self) -> dict[str, Any]:
        """All figures, as `psn predict --json` has them."""
        return self.result.to_dict()

    def __repr__(self):
        return "<psn.Predictions: %d runs of %d draws in %s>\n%s" % (
            len(self), self.result.draws, self.result.model, table(self.result.columns))

    def _repr_html_(self):
        return html_table(self.result.columns)


def predict(posterior: Any, traces: int = 1000, *, model: AnyModel | None = None,
            queries: Sequence[str] = (), held: Mapping[str, Any] | None = None,
            simulator: AnyModel | None = None, unknown: str = "renormalise", out: Any = None,
            **options: Any) -> Predictions:
    """Run a model on draws of a posterior: what would be observed again.

    posterior   of psn.infer(), or the folder that it left by `out`
    model       what to run; by default what the posterior is of
    queries     by default the observations; held, unknown, simulator: as for psn.simulate
    out         a folder for the result, as `psn predict --out` writes it, with its report

    More arguments: see psn.running. Returns Predictions.
    """
    with run(options) as r:
        job = _core.PredictionJob()
        if isinstance(posterior, (str, os.PathLike)):
            job.posterior = os.fspath(posterior)
        else:
            job.predict_from(posterior.result)
            model = posterior.model if model is None else model
        r.simulation(job.simulation, model, traces)
        job.queries = list(queries)
        job.held = held or {}
        r.surrogate(job.surrogate, unknown, simulator)
        out = path_of(out)
        result = _core.predict(job, r.host(), out, r.config("predict", {
            "posterior": job.posterior, "model": job.simulation.model, "samples": traces,
            "query": job.queries, "given": held, "unknown": unknown,
            "simulator": job.surrogate.simulator, "out": out}))
        r.page(out)
        r.warn(_core.failure_warnings(result.report.failures))
        return Predictions(result)
