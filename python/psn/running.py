"""How models are run: what all services have in common.

Every service takes, besides its own arguments:

    seed=0             of all random numbers; the same seed gives the same result
    quiet=False        no progress and no warnings
    workers=1          processes that run a Python model, or an `exec:` command
    max_failures=0.01  share of the runs that may fail before the work is given up
    time_limit=3600    seconds of a simulator from one random choice to the next; 0: any
    run_time_limit=0   seconds of a whole run of a remote simulator; 0: any
    start_time_limit=None  seconds that a remote simulator may take to start, or to be there
    curve_server="", curve_keys=""  files with keys, to encrypt connections (psn.make_keys)
    attach=""          TOML file about the program of "attach:COMMAND" (psn attach --learn)
    max_length=10**6   random choices in a run before it is an error
    stack_size=0       KiB of each simulation of a plugin or a built-in model; 0: what it asks for
    threads=0, width=64  of models that are no Python functions; 0: a thread for each core
"""

import contextlib
import difflib
import json
import os
import warnings

import numpy as np

from psn import _core, _progress, _workers
from psn.programs import Called

DEFAULTS = {"seed": 0, "quiet": False, "workers": 1, "max_failures": 0.01, "time_limit": 3600,
            "run_time_limit": 0, "start_time_limit": None, "curve_server": "", "curve_keys": "",
            "attach": "",
            "max_length": 1_000_000, "stack_size": 0, "threads": 0, "width": 64}

ENGINES = dict(_core.Engine.__members__)


class PsnWarning(UserWarning):
    """What a result should not be taken for, and what to do about it."""


def path_of(path):
    """Of a file or folder; None: none."""
    return "" if path is None else os.fspath(path)


def engine_of(name):
    if name not in ENGINES:
        raise _core.InvalidArgument("`engine`: one of %s, not '%s'" % (", ".join(ENGINES), name))
    return ENGINES[name]


def _toml(value):
    """None for what is not said."""
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(map(_toml, value)) if value else None
    return json.dumps(value, ensure_ascii=False) if value else None


def _named(values):
    """Values by name, as the command line takes them."""
    def number(x):
        x = float(x)
        return None if np.isnan(x) else int(x) if x.is_integer() and abs(x) < 2**53 else x

    def plain(array):
        return [plain(x) for x in array] if array.ndim else number(array)

    return ["%s=%s" % (name, json.dumps(plain(np.asarray(value, dtype=float))))
            for name, value in (values or {}).items()]


class Run:
    """One call of a service: its models, and how they are to be run. `count` is what the caller
    calls the number of runs."""

    def __init__(self, options, count="traces"):
        for name in options:
            if name not in DEFAULTS:
                near = difflib.get_close_matches(name, DEFAULTS, 1)
                raise TypeError("unknown argument '%s'%s" % (
                    name, "; did you mean '%s'?" % near[0] if near else ""))
        self.options = {**DEFAULTS, **options}
        self.quiet = self.options["quiet"]
        self.count = count
        self.called = Called()
        self.processes = contextlib.ExitStack()
        self.labels = {}  # of what goes by another name among services

    def name(self, model):
        """What services call a model, which is served by processes of its own if there are to be
        several."""
        name = self.called.name(model)
        workers = self.options["workers"]
        if workers == 1 or name not in self.called.programs:
            return name
        serving = _workers.serving(name, self.called.programs.pop(name), workers)
        address = self.processes.enter_context(serving)
        self.labels[address] = name
        return address

    def settings(self, settings):
        """Of a simulator."""
        options = self.options
        settings.stack_kib = options["stack_size"]
        settings.time_limit = options["time_limit"]
        remote = settings.remote
        remote.workers = options["workers"]
        remote.max_failures = options["max_failures"]
        remote.run_limit = options["run_time_limit"]
        remote.start_limit = options["start_time_limit"]
        remote.curve_server = path_of(options["curve_server"])
        remote.curve_keys = path_of(options["curve_keys"])
        remote.attach = path_of(options["attach"])
        settings.remote = remote

    def simulation(self, simulation, model, count):
        """Of runs of a model."""
        self.settings(simulation)
        simulation.model = self.name(model) if model is not None else ""
        simulation.count = count
        for name in ("seed", "max_length", "threads", "width"):
            setattr(simulation, name, self.options[name])

    def surrogate(self, use, unknown, simulator):
        """What becomes of a surrogate's runs where it knows no further."""
        if unknown not in _core.Unknown.__members__:
            raise _core.InvalidArgument("`unknown`: one of %s, not '%s'"
                                        % (", ".join(_core.Unknown.__members__), unknown))
        use.unknown = _core.Unknown.__members__[unknown]
        use.simulator = self.name(simulator) if simulator is not None else ""

    def config(self, command, given):
        """All arguments as TOML, by the names of the command line's options: what was done, and the
        measure of whether `resume` goes on with the same. `given` are the command's own."""
        values = {}
        for name, value in {**self.options, **given}.items():
            if name in ("observe", "given"):
                value = _named(value)
            values[name.replace("_", "-")] = self.labels.get(value, value) \
                if isinstance(value, str) else value
        lines = ["%s = %s" % (name, text) for name, value in values.items()
                 if (text := _toml(value)) is not None]
        return "# psn %s from Python\n%s\n" % (command, "\n".join(lines))

    def host(self):
        show = _progress.shower(self.quiet)
        if show is None:
            return _core.Host(self.called.programs)
        return _core.Host(self.called.programs,
                          lambda label, *rest: show(self.labels.get(label, label), *rest))

    def page(self, out):
        """The report of a folder of results, in it. What cannot be drawn is a warning."""
        if not out:
            return
        try:
            _core.write_report([out], os.path.join(out, "report.html"))
        except _core.Error as error:
            self.warn(["no report: %s" % error])

    def words(self, text):
        """A message of the services, with the arguments as they are called here."""
        return text.replace("`count`", "`%s`" % self.count).replace("`from`", "`start`")

    def warn(self, texts, level=3):
        """As of the caller of the service that calls this."""
        if not self.quiet:
            for text in texts:
                warnings.warn(self.words(text), PsnWarning, stacklevel=level)


@contextlib.contextmanager
def run(options, count="traces"):
    one = Run(options, count)
    try:
        with one.processes:
            yield one
    except _core.Error as error:
        error.args = tuple(one.words(str(word)) for word in error.args)
        raise
