"""Whether networks and models are right: verdicts, each a result with a .verdict, which says
.passed, .reasons and .tests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from psn import _core
from psn.inference import ENGINES
from psn.programs import AnyModel
from psn.running import run


def validate(model: AnyModel | None, surrogate: Any, traces: int = 10_000, *, data: Any = None,
             all_traces: bool = False, tolerance: float = 0.02, most_kl: float = 0.05,
             **options: Any) -> Any:
    """Is a surrogate its simulator?

    traces      to judge by
    data        a psn.Store instead of the model (None), of which the traces count that are held
                out from training; all_traces=True: all
    tolerance   a probability may be off by so much without being wrong
    most_kl     nats per trace that the surrogate may be from the simulator

    More arguments: see psn.running.
    """
    with run(options) as r:
        job = _core.ValidationJob()
        r.simulation(job.simulation, model, traces)
        job.surrogate = r.called.name(surrogate)
        job.data = os.fspath(data) if data is not None else ""
        job.all_traces, job.tolerance, job.most_kl = all_traces, tolerance, most_kl
        result = _core.validate(job, r.host())
        r.warn(result.warnings, result.failures)
        return result


def calibrate(model: AnyModel, network: Any, datasets: int = 300, *, draws: int = 1000,
              engine: str = "ic", surrogate: Any = None, queries: Sequence[str] = (),
              tolerance: float = 0.03, **options: Any) -> Any:
    """Are the posteriors of an inference network right, over data drawn from the model?

    datasets    so many, each with `draws` of its posterior
    engine      "ic": draws weighted to be exact; "network": the network's own
    surrogate   to infer in, instead of the model
    queries     what to judge; by default all that every run has
    tolerance   a probability may be off by so much without being wrong

    More arguments: see psn.running.
    """
    with run(options) as r:
        job = _core.CalibrationJob()
        r.simulation(job.simulation, model, draws)
        job.network = r.called.name(network)
        job.surrogate = r.called.name(surrogate) if surrogate is not None else ""
        job.datasets, job.engine, job.tolerance = datasets, ENGINES[engine], tolerance
        job.queries = list(queries)
        result = _core.calibrate(job, r.host())
        r.warn([], result.failures)
        return result


def criticise(model: AnyModel, observations: Mapping[str, Any] | None = None, *,
              network: Any = None, engine: str | None = None, replicates: int = 300,
              draws: int = 2000, **options: Any) -> Any:
    """Does the model explain these data? By default the program's own.

    replicates  data sets drawn from the model, among which these must not stand out
    draws       of the posterior of each
    network, engine   as for psn.infer: "is", "ic" or "network"

    More arguments: see psn.running.
    """
    if engine is None:
        engine = "is" if network is None else "ic"
    with run(options) as r:
        job = _core.CriticismJob()
        r.simulation(job.simulation, model, draws)
        job.observations = observations or {}
        job.network = r.called.name(network) if network is not None else ""
        job.replicates, job.engine = replicates, ENGINES[engine]
        result = _core.criticise(job, r.host())
        r.warn(result.warnings, result.failures)
        return result
