"""Posteriors."""

from psn import _core
from psn.columns import Columns
from psn.running import run
from psn.simulation import predict
from psn.summary import Summary

ENGINES = {"is": _core.Engine.importance, "ic": _core.Engine.compiled,
           "network": _core.Engine.network, "lmh": _core.Engine.prior_moves,
           "rmh": _core.Engine.random_walk}


class Posterior(Columns):
    """Samples of a posterior. Those of importance sampling have weights: post.mean("rate") takes
    them into account, post["rate"] is without; post.resample() has samples of equal weight."""

    def __init__(self, result, model):
        super().__init__(result.posterior)
        self.result, self.model = result, model

    @property
    def weights(self):
        """Normalised to sum one."""
        return self._posterior.weights

    @property
    def log_weights(self):
        return self._posterior.log_weights

    @property
    def chains(self):
        """How many Markov chains of equal length the samples are, one after the other; 0: none."""
        return self._posterior.chains

    @property
    def log_evidence(self):
        """Of weighted samples."""
        return self._posterior.log_evidence

    @property
    def ess(self):
        """The effective sample size; of chains the worst of any component."""
        return self.result.summary.ess

    def summary(self):
        """All columns in numbers, and how the engine fared."""
        return Summary(self.result.summary, self.result.report.failures.runs)

    def resample(self, count=None, seed=0):
        """{name: array} of so many samples of equal weight; by default as many as there are."""
        rows = self._posterior.resampled_rows(len(self) if count is None else count, seed)
        return {name: self[name][rows] for name in self.names}

    def predict(self, traces=1000, **options):
        """What would be observed again; as psn.predict."""
        return predict(self, traces, **options)

    def save(self, path):
        """Columns and weights, as docs/formats/posterior.md has it."""
        self._posterior.save(str(path))

    def __repr__(self):
        return "<psn.Posterior of %s>\n%r" % (self.result.model, self.summary())

    def _repr_html_(self):
        return self.summary()._repr_html_()


def infer(model, observations=None, *, network=None, engine=None, samples=10_000, queries=(),
          held=None, chains=4, burn_in=None, thinning=1, defensive=0.0, correct=0, simulator=None,
          unknown="renormalise", draws=10_000, **options):
    """The posterior of a model given observations.

    observations  {name: value}: numbers or arrays, by name or address of what psn.observe() or
                  psn.sample() say; None in a list, or NaN, was not measured
    engine        "is": importance sampling, the default; "ic": the same with proposals of an
                  inference network, the default if there is a `network`; "network": these proposals
                  themselves, not weighed, so approximate; "lmh", "rmh": Metropolis-Hastings with
                  prior or random-walk proposals
    network       an inference network, of psn.train_inference() or a .psn file
    samples       runs (is, ic, network), or kept states of all chains (lmh, rmh)
    queries       what to report, by name or address; by default all that every run has; "result" is
                  what the program returns
    held          {name: value}: latents to hold at a value, without weighing it
    chains, burn_in, thinning   of Markov chains; burn_in: by default a tenth
    defensive     of "ic": share of runs drawn from the model itself, which bounds the weights
    correct, simulator  for a surrogate: run so many samples again in its simulator, and weigh them
                  to be the simulator's posterior
    draws         samples of which all latents are kept, for post.predict()
    unknown       of a surrogate, at addresses that it does not know; see psn.simulate

    More arguments: see psn.running. Returns a Posterior.
    """
    if engine is None:
        engine = "is" if network is None else "ic"
    if engine not in ENGINES:
        raise _core.InvalidArgument("`engine`: one of %s, not '%s'" % (", ".join(ENGINES), engine))
    with run(options) as r:
        job = _core.InferenceJob()
        r.simulation(job.simulation, model, samples)
        r.surrogate(job.surrogate, unknown, simulator)
        job.engine = ENGINES[engine]
        job.network = r.called.name(network) if network is not None else ""
        job.observations = observations or {}
        job.held = held or {}
        job.queries = list(queries)
        job.chains = chains
        job.burn_in = burn_in
        job.thinning = thinning
        job.defensive = defensive
        job.correct = correct
        job.draws = draws
        result = _core.infer(job, r.host())
        r.warn(result.warnings, result.report.failures)
        return Posterior(result, simulator if correct else model)
