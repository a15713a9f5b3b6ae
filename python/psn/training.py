"""Training of surrogates and inference networks."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from typing import Any

from psn import _core
from psn.networks import Network
from psn.programs import AnyModel
from psn.running import DEFAULTS, run

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(duration):
    """Of 90, "90s", "2m" or "4h"."""
    if isinstance(duration, (int, float)):
        return float(duration)
    match = re.fullmatch(r"([0-9.]+)([smhd]?)", duration)
    if not match:
        raise _core.InvalidArgument("'%s' is no time: 90s, 10m, 4h" % duration)
    return float(match[1]) * _UNITS[match[2]]


def train_surrogate(model: AnyModel | None = None, traces: int | None = None,
                    **options: Any) -> Network:
    """Learn a surrogate of a model: a network that runs in its place.

    traces    to learn from, 500,000 by default; or
    budget    a time, as "2m": as many traces as can be learned from in it, which is measured first
    data      a psn.Store, or its path, to learn from instead of a model
    epochs    passes over it; 0: as many as it bears
    out       the file to write, ending in .psn; by default one that goes with the network
    preset    "default", or "paper"
    start     a trained network to learn on from
    validation        held-out traces
    max_time          stop after so long, to be resumed
    checkpoint_every  a time
    resume    go on with what was interrupted on the way to `out`, if there is
    log       folder for the course of the training: CSV, and events for TensorBoard

    and any setting of docs/reference/configuration.md, by its name: batch_size=64, learning_rate=1e-3,
    variable_embedding={"theta": {"hidden_dim": 100}}. More arguments: see psn.running. Returns a
    psn.Network. Ctrl-C leaves a checkpoint, and says where.
    """
    return _train(_core.Purpose.surrogate, model, traces, **options)


def train_inference(model: AnyModel | None = None, traces: int | None = None,
                    **options: Any) -> Network:
    """Learn an inference network for a model: it proposes values of latents, given observations.

    Arguments as for psn.train_surrogate.
    """
    return _train(_core.Purpose.inference, model, traces, **options)


def _train(purpose, model, traces, *, budget=None, data=None, epochs=0, out=None, preset="default",
           start=None, validation=None, max_time=0, checkpoint_every=60, resume=False, log="",
           **options):
    runs = {name: options.pop(name) for name in list(options) if name in DEFAULTS}
    with run(runs) as r:
        folder = tempfile.mkdtemp(prefix="psn-") if out is None else None
        job = _core.TrainingJob()
        job.out = os.path.join(folder, purpose.name + ".psn") if folder else os.fspath(out)
        job.log, job.resume = os.fspath(log), resume
        r.settings(job.simulator)
        job.model = r.name(model) if model is not None else ""
        job.data.store = os.fspath(data) if data is not None else ""
        job.data.epochs = epochs
        job.start = _core.load_trained(os.fspath(start), purpose) if start is not None else None
        if traces is not None:
            options["traces"] = traces
        if validation is None:
            validation = 5000

        def recipe(settings, held_out, stored=0):
            chosen = _core.Recipe(preset, purpose, settings, stored, job.start)
            chosen.set_seed(r.options["seed"], held_out)
            chosen.set_times(seconds(max_time), seconds(checkpoint_every))
            return chosen

        if budget is not None and traces is None:
            if data is not None:
                raise _core.InvalidArgument(
                    "`budget` is for a model: training on `data` ends by itself when it no longer "
                    "improves (`max_time` stops it before)")
            amount = _core.amount_begun(job.out) if resume else None
            if amount is None:
                job.recipe = recipe(options, validation)
                amount = _core.amount_within(job, seconds(budget), r.host())
            options["traces"], validation = amount.traces, amount.validation
        planned = data is not None and epochs == 0 and traces is None and validation > 0
        stored = _core.store_contents(job.data.store, 1).traces if planned else 0
        job.recipe = recipe(options, validation, stored)
        job.config = job.recipe.config(job.model or job.data.store)
        result = _core.train(job, r.host())
        if not result.last.finished:
            raise KeyboardInterrupt("%d of %d traces in the time%s" % (
                result.last.traces, result.traces, result.left))
        r.warn(_core.failure_warnings(result.failures) + result.warnings, level=4)
        network = Network(job.out, result)
        if folder:  # what is interrupted is kept
            weakref.finalize(network, shutil.rmtree, folder, True)
        return network
