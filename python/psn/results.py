"""Results that were left in folders by `out`, or by the command line's --out, read again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from psn import _core
from psn.plot import figure_files
from psn.running import path_of

FORMATS = dict(_core.ExportFormat.__members__)


def _paths(one_or_several):
    if isinstance(one_or_several, (str, os.PathLike)):
        one_or_several = [one_or_several]
    return [os.fspath(one) for one in one_or_several]


class Summaries(list):
    """A result each: .folder, .model, .engine, .samples, .chains and .variables, which have .name,
    .mean, .mcse, .sd, .quantiles, .hdi, .ess, .rhat, .probability and .apart."""

    def __init__(self, results, quantiles):
        super().__init__(results)
        self.quantiles = quantiles

    def __repr__(self):
        heads = ["mean", "mcse", "sd", *("%g%%" % (100 * q) for q in self.quantiles), "ess"]
        lines = []
        for result in self:
            lines.append("%16s" % result.folder[-16:] + "".join("%11s" % head for head in heads))
            for v in result.variables:
                figures = [v.mean, v.mcse, v.sd, *v.quantiles]
                lines.append("%16s" % v.name + "".join("%11.5g" % x for x in figures)
                             + "%11.0f" % v.ess)
        return "\n".join(lines)


def summary(folders: Any, *, queries: Sequence[str] = (),
            quantiles: Sequence[float] = (0.05, 0.5, 0.95), hdi: float = 0.9) -> Summaries:
    """Means, Monte Carlo errors, quantiles and diagnostics of results, side by side.

    folders    of psn.infer, psn.predict or psn.simulate with `out`; one, or several
    queries    columns to take, by name; by default all
    hdi        mass of the narrowest interval

    .apart of a variable is its distance from the first result's mean, in standard errors.
    """
    job = _core.SummaryJob()
    job.folders, job.queries = _paths(folders), list(queries)
    job.quantiles, job.hdi = list(quantiles), hdi
    return Summaries(_core.summarize_results(job), job.quantiles)


def diagnose(result: Any) -> Any:
    """What a result should not be taken for: .findings, each with .warning, .reason and .remedy; none
    if all is well. `result` is a folder of `out` or `log`, a psn.Network or its file."""
    return _core.diagnose(os.fspath(result))


def export_job(path, format=None, *, resample=0, seed=0, predictive=None, prior=None):
    ending = os.path.splitext(os.fspath(path))[1]
    name = format or {".nc": "netcdf", ".npz": "npz", ".csv": "csv"}.get(ending, ending)
    if name not in FORMATS:
        raise _core.InvalidArgument("`format`: one of %s, not '%s'" % (", ".join(FORMATS), name))
    job = _core.ResultExport()
    job.format, job.out = FORMATS[name], os.fspath(path)
    job.resample, job.seed = resample, seed
    job.predictive, job.prior = path_of(predictive), path_of(prior)
    return job


def export(folder: Any, path: Any, format: str | None = None, **options: Any) -> int:
    """A result for other programs; returns how many samples the file has.

    folder     of psn.infer, psn.predict or psn.simulate with `out`
    format     "netcdf" (as ArviZ lays it out), "npz" or "csv"; by default by the ending of `path`:
               .nc, .npz, .csv
    resample   so many draws of equal weight, for programs that know no weights; by `seed`
    predictive, prior   folders for the groups of these names, in NetCDF
    """
    job = export_job(path, format, **options)
    job.folder = os.fspath(folder)
    return _core.export_result(job)


def report(inputs: Any, path: Any, *, figure: str | None = None) -> Any:
    """One HTML page, to be opened from disk, of what was left in folders by `out` and `log`, and of
    networks. With `figure`, the name of one, that alone, as a .svg, .png or .pdf. Returns the path."""
    inputs = _paths(inputs)
    if figure is None:
        _core.write_report(inputs, os.fspath(path))
        return path
    _core.draw_figure(inputs, figure, figure_files(path))
    return path


def watch(folders: Any) -> list:
    """Trainings under way, or ended, as their logs tell now (psn.train_surrogate with `log`): each has
    .folder, .phase, .traces, .total, .loss, .held_out, .seconds_left and more."""
    return _core.training_courses(_paths(folders))


def build_facts() -> dict[str, Any]:
    """How this psn was built, and with what."""
    return _core.build_facts()


def machine() -> dict[str, Any]:
    """What this machine offers, and which libraries psn finds on it."""
    return _core.machine()
