"""Posteriors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psn import _core
from psn.columns import Columns
from psn.programs import AnyModel
from psn.results import export_job
from psn.running import engine_of, path_of, run
from psn.simulation import Predictions, predict
from psn.tables import Summary


class Posterior(Columns):
    """Samples of a posterior. Those of importance sampling have weights: post.mean("rate") takes
    them into account, post["rate"] is without; post.resample() has samples of equal weight."""

    def __init__(self, result, model):
        super().__init__(result.posterior)
        self.result, self.model = result, model

    @property
    def weights(self) -> np.ndarray:
        """Normalised to sum one."""
        return self._posterior.weights

    @property
    def log_weights(self) -> np.ndarray:
        return self._posterior.log_weights

    @property
    def chains(self) -> int:
        """How many Markov chains of equal length the samples are, one after the other; 0: none."""
        return self._posterior.chains

    @property
    def log_evidence(self) -> float:
        """Of weighted samples."""
        return self._posterior.log_evidence

    @property
    def ess(self) -> float:
        """The effective sample size; of chains the worst of any component."""
        return self.result.summary.ess

    def summary(self) -> Summary:
        """All columns in numbers, and how the engine fared."""
        return Summary(self.result.summary, self.result.report.failures.runs)

    def resample(self, count: int | None = None, seed: int = 0) -> dict[str, np.ndarray]:
        """{name: array} of so many samples of equal weight; by default as many as there are."""
        rows = self._posterior.resampled_rows(len(self) if count is None else count, seed)
        return {name: self[name][rows] for name in self.names}

    def predict(self, traces: int = 1000, **options: Any) -> Predictions:
        """What would be observed again; as psn.predict."""
        return predict(self, traces, **options)

    def to_xarray(self, count=None, seed=0):
        """An xarray.Dataset with dimensions chain and draw, as ArviZ has it. Weighted samples are
        resampled to `count` of equal weight, since ArviZ knows no weights."""
        import xarray

        chains = self.chains or 1
        columns = self if self.chains else self.resample(count, seed)
        data = {}
        for name in self.names:
            values = columns[name]
            more = ["%s_dim_%d" % (name, k) for k in range(values.ndim - 1)]
            data[name] = (["chain", "draw", *more], values.reshape(chains, -1, *values.shape[1:]))
        return xarray.Dataset(data, attrs={"inference_library": "psn", "model": self.result.model})

    def export(self, path: Any, format: str | None = None, **options: Any) -> int:
        """To a file for other programs; as psn.export of a folder."""
        job = export_job(path, format, **options)
        return _core.export_posterior(self.result, self.result.job, job)

    def to_netcdf(self, path: Any, resample: int = 0, seed: int = 0, **groups: Any) -> None:
        """As ArviZ lays it out: posterior, sample_stats (log_weight), observed_data. resample: so
        many draws of equal weight instead, for ArviZ knows no weights; predictive, prior: folders
        of psn.predict(out=) and psn.simulate(out=) for the groups of these names."""
        self.export(path, "netcdf", resample=resample, seed=seed, **groups)

    def save(self, path):
        """Columns and weights, as docs/formats/posterior.md has it."""
        self._posterior.save(str(path))

    def to_dict(self) -> dict[str, Any]:
        """All figures, as `psn infer --json` has them."""
        return self.result.to_dict()

    def __repr__(self):
        return "<psn.Posterior of %s>\n%r" % (self.result.model, self.summary())

    def _repr_html_(self):
        return self.summary()._repr_html_()


def infer(model: AnyModel, observations: Mapping[str, Any] | None = None, *,
          network: Any = None, engine: str | None = None, samples: int = 10_000,
          queries: Sequence[str] = (), held: Mapping[str, Any] | None = None, chains: int = 4,
          burn_in: int | None = None, thinning: int = 1, surrogate: Any = None,
          moves: int = 200, fresh: float = 0.05, defensive: float = 0.0, correct: int = 0,
          parameters: Sequence[str] = (), until: Sequence[str] = (), max_runs: int | None = None,
          keep: Any = None, simulator: AnyModel | None = None, unknown: str = "renormalise",
          draws: int = 10_000, out: Any = None, resume: bool = False,
          **options: Any) -> Posterior:
    """The posterior of a model given observations. An inference network as the model answers by
    itself, if its program has no branches.

    observations  {name: value}: numbers or arrays, by name or address of what psn.observe() or
                  psn.sample() say; None in a list, or NaN, was not measured
    engine        "is": importance sampling, the default; "ic": the same with proposals of an
                  inference network, the default if there is a `network`; "network": these proposals
                  themselves, not weighed, so approximate; "lmh", "rmh": Metropolis-Hastings with
                  prior or random-walk proposals; "da": delayed acceptance, moves inside surrogates
                  that single runs of the model accept or reject, the default if there is a
                  `surrogate`; "pm", the default with `parameters`: moves of these, by estimates of
                  their density
    network       an inference network, of psn.train_inference() or a .psn file
    samples       runs (is, ic, network), or kept states of all chains (lmh, rmh, da, pm)
    queries       what to report, by name or address; by default all that every run has; "result" is
                  what the program returns
    held          {name: value}: latents to hold at a value, without weighing it
    chains, burn_in, thinning   of Markov chains; burn_in: by default a tenth
    surrogate     of the model, to move in (da, pm): a network or a .psn file; or several, as a list,
                  the coarsest first
    moves, fresh  of "da": moves inside a surrogate for one run of the model, at most, adapted in
                  burn-in; share of proposals that are whole new runs of the model
    defensive     of "ic": share of runs drawn from the model itself, which bounds the weights
    parameters    latents to move (pm) or to propose (correct); the rest is drawn by the model
    until         goes on until all of these hold: "ess=1000", "mcse(x) < 0.01", "rhat < 1.01", with
                  a look every `samples` or more
    max_runs      of the model, at most
    keep          a psn.Store's folder of runs, which are used again, and added to (is)
    correct, simulator  for a surrogate: run so many samples again in its simulator, and weigh them
                  to be the simulator's posterior
    draws         samples of which all latents are kept, for post.predict()
    unknown       of a surrogate, at addresses that it does not know; see psn.simulate
    out           a folder for the result, as `psn infer --out` writes it, with its report; Ctrl-C
                  then keeps what there is beside it
    resume        go on with what was interrupted on the way to `out`, if there is

    More arguments: see psn.running. Returns a Posterior.
    """
    if engine is None and network is not None:
        engine = "ic"
    elif engine is None and surrogate is not None:
        engine = "da"
    if surrogate is None:
        surrogates = []
    else:
        surrogates = surrogate if isinstance(surrogate, (list, tuple)) else [surrogate]
    with run(options, "samples") as r:
        job = _core.InferenceJob()
        r.simulation(job.simulation, model, samples)
        r.surrogate(job.surrogate, unknown, simulator)
        job.engine = engine_of(engine) if engine is not None else None
        job.network = r.called.name(network) if network is not None else ""
        job.surrogates = [r.called.name(one) for one in surrogates]
        job.moves = moves
        job.fresh = fresh
        job.observations = observations or {}
        job.held = held or {}
        job.queries = list(queries)
        job.chains = chains
        job.burn_in = burn_in
        job.thinning = thinning
        job.defensive = defensive
        job.parameters = list(parameters)
        job.until, job.max_runs = list(until), max_runs
        job.keep = path_of(keep)
        job.correct = correct
        job.draws = draws
        job.resume = resume
        out = path_of(out)
        config = r.config("infer", {
            "model": job.simulation.model, "samples": samples, "engine": engine or "auto",
            "network": job.network, "surrogate": job.surrogates, "moves": moves, "fresh": fresh,
            "defensive": defensive, "correct": correct or None,
            "observe": observations, "given": held, "query": job.queries, "chains": chains,
            "burn_in": burn_in, "thin": thinning, "draws": draws, "out": out,
            "unknown": unknown, "simulator": job.surrogate.simulator,
            "parameters": job.parameters, "until": job.until, "max_runs": max_runs,
            "keep": job.keep})
        result = _core.infer(job, r.host(), out, config)
        r.page(out)
        r.warn(result.told)
        return Posterior(result, simulator if correct else model)
