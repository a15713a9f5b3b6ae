"""Models: Python functions, and what else can be run."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, Union

from psn import _core


class Model:
    """A Python function as a model; calling it does nothing but call the function.

    The function takes no arguments. It asks for random values by psn.sample(), says what can be
    measured by psn.observe(), and may return a number or an array.
    """

    def __init__(self, function: Callable[[], Any], name: str | None = None):
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name or getattr(function, "__name__", "program")

    def __call__(self):
        return self.function()

    def __repr__(self):
        return "<psn.Model %s>" % self.name


def model(function: Callable[[], Any] | None = None, *, name: str | None = None) -> Any:
    """Make a function a model: `@psn.model`, or `@psn.model(name="my shop")`."""
    if function is None:
        return lambda function: Model(function, name)
    return Model(function, name)


# What may be run.
AnyModel = Union[Model, Callable[[], Any], str, os.PathLike]


class Called:
    """The models of one call of a service: their names, and the functions behind them."""

    def __init__(self):
        self.programs = {}

    def name(self, model):
        """What services call it."""
        if isinstance(model, str):
            return model
        if isinstance(model, os.PathLike):
            return os.fspath(model)
        if isinstance(getattr(model, "path", None), str):  # a network
            return model.path
        if not isinstance(model, Model):
            if not callable(model):
                raise TypeError("a model is a function, a network, or a string, not %r" % (model,))
            model = Model(model)
        if self.programs.setdefault(model.name, model.function) is not model.function:
            raise _core.InvalidArgument("two models are called '%s'" % model.name)
        return model.name


def serve(model: AnyModel, endpoint: str = "tcp://127.0.0.1:5555", seed: int = 0, *,
          withhold_data: bool = False, curve_keys: Any = "", curve_allow: Sequence[Any] = (),
          stack_size: int = 0, attach: Any = "", ready: Callable[[str, str], Any] | None = None,
          log: Callable[[str], Any] | None = None) -> None:
    """Serve a model to any engine that speaks PPX, the command line too, until Ctrl-C:

    psn infer ppx+tcp://127.0.0.1:5555 ...

    withhold_data  keep the program's own data from the engine: for one that learns from runs
    curve_keys     file with our own keys (psn.make_keys): encrypts the connection
    curve_allow    files with the public keys of engines that may connect; all, if none is given
    stack_size     KiB of each run of a plugin or a built-in model; 0: what it asks for
    attach         TOML file about the program of "attach:COMMAND"
    ready, log     told the model's name and where it is served; told of runs that failed
    """
    called = Called()
    job = _core.ServiceJob()
    job.model, job.endpoint, job.seed = called.name(model), endpoint, seed
    job.withhold_data, job.stack_kib = withhold_data, stack_size
    job.attach = os.fspath(attach)
    job.curve_keys, job.curve_allow = os.fspath(curve_keys), [os.fspath(key) for key in curve_allow]
    _core.serve(job, _core.Host(called.programs), log, ready)


def make_keys(path: Any) -> None:
    """Keys for encrypted connections: both in this file, to be kept secret, the public one in
    path.pub as well."""
    _core.make_keys(os.fspath(path))


def models() -> dict[str, str]:
    """The built-in models: what each is, by its name."""
    return dict(_core.Host({}).models())
