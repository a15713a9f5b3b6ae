"""Forward runs of a model."""

from psn import _core
from psn.columns import Columns
from psn.running import run


class Samples(Columns):
    """What forward runs came to: columns of equal weight, and some whole traces."""

    def __init__(self, result):
        super().__init__(result.samples)
        self.result = result

    @property
    def traces(self):
        """Those that were recorded: each has .steps and .log_joint."""
        return self.result.records

    def __repr__(self):
        r = self.result
        return "<psn.Samples: %d runs of %s, %.3g random choices each, of %s>" % (
            len(self), r.model, r.mean_length, ", ".join(self.names))


def simulate(model, traces=1000, *, queries=(), held=None, record=0, simulator=None,
             unknown="renormalise", **options):
    """Run a model forward, so often.

    queries      what to keep of each run, by name or address; by default all named variables that
                 every run has; "result" is what the program returns
    held         {name: value}: latents to hold at a value (an intervention)
    record       keep everything that the first so many runs did, in .traces
    unknown, simulator  of a surrogate, at addresses that it does not know: "renormalise" (never go
                 there), "stop" (an error), "simulator" (go on in that model)

    More arguments: see psn.running. Returns Samples.
    """
    with run(options) as r:
        job = _core.SimulationJob()
        r.simulation(job.simulation, model, traces)
        r.surrogate(job.surrogate, unknown, simulator)
        job.queries = list(queries)
        job.held = held or {}
        job.recorded = record
        job.distributions = record > 0
        job.columns = True
        result = _core.simulate(job, r.host())
        r.warn([], result.report.failures)
        return Samples(result)
