"""How models are run: what all services have in common.

Every service takes, besides its own arguments:

    seed=0             of all random numbers; the same seed gives the same result
    quiet=False        no progress and no warnings
    workers=1          processes that run a Python model, or an `exec:` command
    max_failures=0.01  share of the runs that may fail before the work is given up
    time_limit=3600    seconds of a remote simulator from one random choice to the next; 0: any
    max_length=10**6   random choices in a run before it is an error
    threads=0, width=64  of models that are no Python functions; 0: a thread for each core
"""

import contextlib
import difflib
import warnings

from psn import _core, _progress, _workers
from psn.programs import Called

DEFAULTS = {"seed": 0, "quiet": False, "workers": 1, "max_failures": 0.01, "time_limit": 3600,
            "max_length": 1_000_000, "threads": 0, "width": 64}


class PsnWarning(UserWarning):
    """What a result should not be taken for, and what to do about it."""


class Run:
    """One call of a service: its models, and how they are to be run."""

    def __init__(self, options):
        for name in options:
            if name not in DEFAULTS:
                near = difflib.get_close_matches(name, DEFAULTS, 1)
                raise TypeError("unknown argument '%s'%s" % (
                    name, "; did you mean '%s'?" % near[0] if near else ""))
        self.options = {**DEFAULTS, **options}
        self.quiet = self.options["quiet"]
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
        settings.time_limit = self.options["time_limit"]
        remote = settings.remote
        remote.workers = self.options["workers"]
        remote.max_failures = self.options["max_failures"]
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

    def host(self):
        show = _progress.shower(self.quiet)
        if show is None:
            return _core.Host(self.called.programs)
        return _core.Host(self.called.programs,
                          lambda label, *rest: show(self.labels.get(label, label), *rest))

    def warn(self, texts, failures=None, level=3):
        """As of the caller of the service that calls this."""
        if self.quiet:
            return
        if failures is not None and failures.runs:
            causes = ", ".join("%d %s" % (n, cause) for cause, n in failures.by_cause.items())
            texts = ["%d runs failed and are left out, which biases the result if failing depends on "
                     "the values (%s); the last: %s" % (failures.runs, causes, failures.last), *texts]
        for text in texts:
            warnings.warn(text, PsnWarning, stacklevel=level)


@contextlib.contextmanager
def run(options):
    one = Run(options)
    with one.processes:
        yield one
