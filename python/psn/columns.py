"""Samples as columns of numbers."""

from __future__ import annotations

import os

import numpy as np

from psn.plot import Plot, plot


class Columns:
    """Samples, a column for each quantity. `samples["rate"]` is an array that shares its memory with
    psn: nothing is copied, and nobody may write there. NaN: this run does not have it."""

    def __init__(self, posterior):
        self._posterior = posterior

    def __len__(self):
        return len(self._posterior)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._posterior.column(name)

    def __contains__(self, name):
        return name in self.names

    def __iter__(self):
        return iter(self.names)

    def keys(self):
        return self.names

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return self._posterior.names

    def mean(self, name: str, component: int = 0) -> float:
        """The (weighted) mean of a column; of one component of it."""
        return self._posterior.mean(name, component)

    def std(self, name: str, component: int = 0) -> float:
        return self._posterior.variance(name, component) ** 0.5

    def quantile(self, name: str, p: float, component: int = 0) -> float:
        return self._posterior.quantile(name, p, component)

    def probability(self, name: str, component: int = 0) -> float:
        """That a run has this quantity at all."""
        return self._posterior.probability(name, component)

    def plot(self, *names: str, bins: int = 40) -> Plot:
        """A histogram of each number of these columns, or of all, with its weights."""
        return plot(self, self._posterior.weights, names, bins)

    def to_csv(self, path):
        """A table, a row each sample."""
        self._posterior.write_csv(os.fspath(path))

    def to_npz(self, path):
        """Arrays for numpy, with log_weight."""
        self._posterior.write_npz(os.fspath(path))
