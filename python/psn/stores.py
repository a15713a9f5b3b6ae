"""Stores of traces on disk, as sequences."""

from __future__ import annotations

import collections.abc
import os
from typing import Any

from psn import _core
from psn.programs import AnyModel
from psn.running import run

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

    def export(self, path, queries=()):
        """To .csv or .npz: a row a trace, a column each quantity. Returns the number of rows."""
        return _core.export_traces(self.path, os.fspath(path), list(queries))

    @classmethod
    def merge(cls, stores, out, quiet=False):
        """Several stores of one model as one."""
        with run({"quiet": quiet}) as r:
            _core.merge_stores([os.fspath(store) for store in stores], os.fspath(out), r.host())
            return cls(out)

    def __repr__(self):
        return "<psn.Store: %d traces in '%s'>" % (len(self), self.path)


def generate(model: AnyModel, traces: int, out: str | os.PathLike, **options: Any) -> Store:
    """Keep runs of a model in a store, to learn from them again and again. A store that is there
    already goes on, and Ctrl-C loses nothing. More arguments: see psn.running. Returns a Store."""
    with run(options) as r:
        job = _core.GenerationJob()
        r.simulation(job.simulation, model, traces)
        job.store = os.fspath(out)
        result = _core.generate(job, r.host())
        r.warn([], result.failures)
        return Store(out)
