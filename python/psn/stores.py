"""Stores of traces on disk, as sequences."""

from __future__ import annotations

import collections.abc
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from psn import _core
from psn.programs import AnyModel
from psn.running import PsnWarning, run

_AHEAD = 1000  # traces that are read at a time


class Store(collections.abc.Sequence):
    """A trace store as a sequence of traces: store[3], store[:100], `for trace in store`. A trace has
    .steps, .log_joint and .result; trace["rate"] is the value of that name."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self._reader = _core.TraceReader(self.path)
        self._reader.size()  # is it one?

    def __fspath__(self):
        return self.path

    def __len__(self):
        return self._reader.size()

    def __getitem__(self, index):
        if isinstance(index, slice):
            places = range(len(self))[index]
            return self._reader.read(places.start, len(places), places.step)
        return self._reader.read(range(len(self))[index], 1)[0]

    def __iter__(self):
        for first in range(0, len(self), _AHEAD):
            yield from self[first:first + _AHEAD]

    def contents(self, sampled=1000):
        """Lengths and addresses, as so many traces have them; 0: all."""
        return _core.store_contents(self.path, sampled)

    def verify(self, quiet=False):
        """Read all of it; DataError for what is damaged."""
        with run({"quiet": quiet}) as r:
            return _core.verify_store(self.path, r.host())

    def export(self, path, queries=(), first=0, count=0):
        """To .csv or .npz: a row a trace, a column each quantity; of so many traces (0: all) from the
        first. Returns the number of rows."""
        job = _core.TraceExport()
        job.store, job.out, job.queries = self.path, os.fspath(path), list(queries)
        job.first, job.count = first, count
        return _core.export_traces(job)

    @classmethod
    def merge(cls, stores, out, quiet=False):
        """Several stores of one model as one."""
        with run({"quiet": quiet}) as r:
            _core.merge_stores([os.fspath(store) for store in stores], os.fspath(out), r.host())
            return cls(out)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], latents: Mapping[str, Any],
                    observe: Sequence[str], out: Any, quiet: bool = False) -> Store:
        """Runs in arrays, as psn.import_runs takes them from a file: {name: array}, of each array the
        first extent are the runs."""
        job = _core.ImportJob()
        job.table = "arrays"
        job.take(dict(arrays))
        return _import(job, latents, observe, out, quiet)

    def __repr__(self):
        return "<psn.Store: %d traces in '%s'>" % (len(self), self.path)


def generate(model: AnyModel, traces: int, out: str | os.PathLike, *, commit_every: float = 1,
             map_size: float = 0, **options: Any) -> Store:
    """Keep runs of a model in a store, to learn from them again and again. A store that is there
    already goes on, and Ctrl-C loses nothing.

    commit_every  seconds from one commit to the next: what is lost at most if the process is killed
    map_size      GiB that the store may grow to; 0: 1024, or what the process has room for

    More arguments: see psn.running. Returns a Store.
    """
    with run(options) as r:
        job = _core.GenerationJob()
        r.simulation(job.simulation, model, traces)
        job.store, job.commit_every, job.map_bytes = os.fspath(out), commit_every, int(map_size * 2**30)
        job.config = r.config("data generate", {
            "model": job.simulation.model, "samples": traces, "out": job.store,
            "commit_every": commit_every, "map_size": map_size})
        result = _core.generate(job, r.host())
        r.warn(_core.failure_warnings(result.failures))
        return Store(out)


def import_runs(table: str | os.PathLike, latents: Mapping[str, Any], observe: Sequence[str],
                out: Any, quiet: bool = False) -> Store:
    """Runs that were made before, elsewhere, as a store to learn from.

    table    a .csv or .npz file: a row a run, a column each parameter and output
    latents  {column: prior}: parameters, and what they were drawn from, as psn.Normal(0, 1) or
             "Normal(0, 1)"
    observe  columns of outputs; how probable they are given the latents nobody knows
    out      the new store: a folder. Runs with a missing value are kept apart, in failed.csv there

    Returns a Store; its .imported counts .runs, .traces and .failed, and has .missing by column.
    """
    job = _core.ImportJob()
    job.table = os.fspath(table)
    return _import(job, latents, observe, out, quiet)


def _import(job, latents, observe, out, quiet):
    for name, prior in latents.items():
        job.draw(name, prior)
    job.observed, job.store = list(observe), os.fspath(out)
    result = _core.import_runs(job)
    if not quiet:
        texts = ["'%s' is missing in %d of %d runs" % (name, runs, result.runs)
                 for name, runs in result.missing.items()]
        if result.failed:
            texts.append("%d of %d runs are left out and kept in '%s/failed.csv', which biases what is "
                         "learned if failing has to do with the variables"
                         % (result.failed, result.runs, job.store))
        if result.unused:
            texts.append("columns that nobody asked for: %s" % ", ".join(result.unused))
        for text in texts:
            warnings.warn(text, PsnWarning, stacklevel=3)
    store = Store(out)
    store.imported = result
    return store
