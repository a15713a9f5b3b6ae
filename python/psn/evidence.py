"""Whether networks and models are right: verdicts, each a result with a .verdict, which says
.passed, .reasons and .tests; .to_dict() has all that they stand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psn import _core
from psn.programs import AnyModel
from psn.running import engine_of, path_of, run


def validate(model: AnyModel | None, surrogate: Any, traces: int = 10_000, *, data: Any = None,
             all_traces: bool = False, tolerance: float = 0.02, most_kl: float = 0.05,
             out: Any = None, **options: Any) -> Any:
    """Is a surrogate its simulator?

    traces      to judge by
    data        a psn.Store instead of the model (None), of which the traces count that are held
                out from training; all_traces=True: all
    tolerance   a probability may be off by so much without being wrong
    most_kl     nats per trace that the surrogate may be from the simulator
    out         a folder for the result, as `psn validate --out` writes it, with its report

    More arguments: see psn.running.
    """
    with run(options) as r:
        job = _core.ValidationJob()
        r.simulation(job.simulation, model, traces)
        job.surrogate = r.called.name(surrogate)
        job.data = path_of(data)
        job.all_traces, job.tolerance, job.most_kl = all_traces, tolerance, most_kl
        out = path_of(out)
        result = _core.validate(job, r.host(), out, r.config("validate", {
            "model": job.simulation.model, "samples": traces, "surrogate": job.surrogate,
            "data": job.data, "all_traces": all_traces, "tolerance": tolerance, "most_kl": most_kl,
            "out": out}))
        r.page(out)
        r.warn(_core.failure_warnings(result.failures) + result.warnings)
        return result


def calibrate(model: AnyModel, network: Any, datasets: int = 300, *, draws: int = 1000,
              engine: str = "ic", surrogate: Any = None, queries: Sequence[str] = (),
              tolerance: float = 0.03, out: Any = None, resume: bool = False,
              **options: Any) -> Any:
    """Are the posteriors of an inference network right, over data drawn from the model?

    datasets    so many, each with `draws` of its posterior
    engine      "ic": draws weighted to be exact; "network": the network's own
    surrogate   to infer in, instead of the model
    queries     what to judge; by default all that every run has
    tolerance   a probability may be off by so much without being wrong
    out         a folder for the result, as `psn calibrate --out` writes it, with its report
    resume      go on with what was interrupted on the way to `out`, if there is

    More arguments: see psn.running.
    """
    with run(options, "draws") as r:
        job = _core.CalibrationJob()
        r.simulation(job.simulation, model, draws)
        job.network = r.called.name(network)
        job.surrogate = r.called.name(surrogate) if surrogate is not None else ""
        job.datasets, job.engine, job.tolerance = datasets, engine_of(engine), tolerance
        job.queries, job.resume = list(queries), resume
        out = path_of(out)
        result = _core.calibrate(job, r.host(), out, r.config("calibrate", {
            "model": job.simulation.model, "draws": draws, "datasets": datasets,
            "network": job.network, "surrogate": job.surrogate, "engine": engine,
            "query": job.queries, "tolerance": tolerance, "out": out}))
        r.page(out)
        r.warn(_core.failure_warnings(result.failures))
        return result


def criticise(model: AnyModel, observations: Mapping[str, Any] | None = None, *,
              network: Any = None, engine: str | None = None, replicates: int = 300,
              draws: int = 2000, out: Any = None, resume: bool = False, **options: Any) -> Any:
    """Does the model explain these data? By default the program's own.

    replicates  data sets drawn from the model, among which these must not stand out
    draws       of the posterior of each
    network, engine   as for psn.infer: "is", "ic" or "network"
    out         a folder for the result, as `psn criticise --out` writes it, with its report
    resume      go on with what was interrupted on the way to `out`, if there is

    More arguments: see psn.running.
    """
    chosen = engine_of(engine or ("is" if network is None else "ic"))
    with run(options, "draws") as r:
        job = _core.CriticismJob()
        r.simulation(job.simulation, model, draws)
        job.observations = observations or {}
        job.network = r.called.name(network) if network is not None else ""
        job.replicates, job.engine, job.resume = replicates, chosen, resume
        out = path_of(out)
        result = _core.criticise(job, r.host(), out, r.config("criticise", {
            "model": job.simulation.model, "draws": draws, "observe": observations,
            "replicates": replicates, "network": job.network, "engine": engine, "out": out}))
        r.page(out)
        r.warn(_core.failure_warnings(result.failures) + result.warnings)
        return result


def bayes_factors(models: Sequence[AnyModel], observations: Mapping[str, Any], *,
                  networks: Sequence[Any] = (), samples: int = 10_000, defensive: float = 0.1,
                  held: Mapping[str, Any] | None = None, out: Any = None, **options: Any) -> Any:
    """Which of several models the same data speak for: the log evidence of each with its standard
    error, and Bayes factors, by importance sampling.

    networks    inference networks, one for each model; None: it has none. One proposes if a pilot
                finds it better than the prior
    samples     of each model
    defensive   share of a network's samples that is drawn from the model
    held        {name: value}: latents to hold at a value, without weighing it
    out         a folder for the result, as `psn evidence --out` writes it, with its report

    More arguments: see psn.running. Returns a result with .models, each with .log_evidence, .error,
    .log_bayes_factor and .probability, and .best, the best one's name.
    """
    with run(options, "samples") as r:
        job = _core.EvidenceJob()
        r.simulation(job.simulation, None, samples)
        job.models = [r.name(model) for model in models]
        job.networks = {model: r.called.name(network)
                        for model, network in zip(job.models, networks) if network is not None}
        job.observations, job.held = observations, held or {}
        job.defensive = defensive
        out = path_of(out)
        result = _core.model_evidence(job, r.host(), out, r.config("evidence", {
            "models": job.models, "samples": samples, "observe": observations, "given": held,
            "network": ["%s=%s" % pair for pair in job.networks.items()], "defensive": defensive,
            "out": out}))
        r.page(out)
        r.warn(result.warnings)
        return result
