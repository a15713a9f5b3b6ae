"""psn: surrogates and posteriors of probabilistic programs.

    import psn

    @psn.model
    def shop():
        rate = psn.sample(psn.Gamma(2, 1), "rate")
        psn.observe(psn.Poisson(8 * rate), "count")
        return rate

    post = psn.infer(shop, {"count": 12})
    post.mean("rate")

A model is a Python function, a network (psn.Network, or the path of its .psn file), the name of a
built-in one, a plugin ("./libmodel.so"), simulators in other processes ("exec:COMMAND",
"ppx+tcp://HOST:PORT"), or a program that knows nothing of psn ("attach:COMMAND", attach="sim.toml"). psn.ppx makes a Python program such a simulator; it needs no compiled part.
"""

try:
    import psn._core as _core
except ModuleNotFoundError as _missing:
    if _missing.name not in ("psn._core", "numpy"):
        raise
    _why = str(_missing)

    def __getattr__(name):
        raise AttributeError(  # so that submodules are looked for
            "psn.%s needs the compiled part of psn, which is not here (%s): pip install it from "
            "the source tree, or put build/python on PYTHONPATH; psn.ppx works without"
            % (name, _why))
else:
    from psn._core import (Abandoned, DataError, Distribution, Error, InvalidArgument, ModelError,
                           ProtocolError, factor, observe, observe_value, sample, scope, tag, until)
    from psn._families import *  # noqa: F403: all families
    from psn.attaching import attach
    from psn.evidence import bayes_factors, calibrate, criticise, validate
    from psn.inference import Posterior, infer
    from psn.networks import Network, compare
    from psn.plot import Plot
    from psn.programs import Model, make_keys, model, models, serve
    from psn.results import build_facts, diagnose, export, machine, report, summary, watch
    from psn.running import PsnWarning
    from psn.simulation import Predictions, Samples, graph, predict, simulate
    from psn.stores import Store, generate, import_runs
    from psn.training import train_inference, train_surrogate

    __version__ = build_facts()["version"]
