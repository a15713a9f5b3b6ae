"""Figures of columns: weighted histograms, as Vega-Lite or by matplotlib."""

import json
import os

import numpy as np

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


def histogram(values, weights, bins):
    """Edges and densities; what a run does not have (NaN) is left out."""
    there = np.isfinite(values)
    return np.histogram(values[there], bins=bins, weights=weights[there], density=True)


def components(columns, names):
    """Label and values of each number of these columns."""
    for name in names:
        values = columns[name]
        if values.ndim == 1:
            yield name, values
        else:
            flat = values.reshape(len(values), -1)
            for i in range(flat.shape[1]):
                yield "%s[%d]" % (name, i), flat[:, i]


class Plot:
    """A figure: shown by notebooks that know Vega-Lite, drawn by matplotlib where that is there."""

    def __init__(self, panels):
        self.panels = panels  # label, edges, densities

    @property
    def spec(self):
        """As Vega-Lite has it."""
        return {"$schema": SCHEMA, "hconcat": [{
            "title": label, "width": 220, "height": 150,
            "data": {"values": [{"low": a, "high": b, "density": d}
                                for a, b, d in zip(edges[:-1].tolist(), edges[1:].tolist(),
                                                   densities.tolist())]},
            "mark": "bar",
            "encoding": {"x": {"field": "low", "type": "quantitative", "bin": {"binned": True},
                               "title": label},
                         "x2": {"field": "high"},
                         "y": {"field": "density", "type": "quantitative"}},
        } for label, edges, densities in self.panels]}

    def figure(self):
        """As matplotlib has it."""
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(1, len(self.panels), squeeze=False,
                                       figsize=(3.2 * len(self.panels), 2.4))
        for axis, (label, edges, densities) in zip(axes[0], self.panels):
            axis.stairs(densities, edges, fill=True)
            axis.set_title(label)
        figure.tight_layout()
        return figure

    def save(self, path):
        """A .vl.json file holds the Vega-Lite; any other is drawn by matplotlib."""
        if os.fspath(path).endswith(".json"):
            with open(path, "w") as file:
                json.dump(self.spec, file)
        else:
            self.figure().savefig(path)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"application/vnd.vegalite.v5+json": self.spec,
                "text/plain": "<psn.Plot of %s>" % ", ".join(label for label, *_ in self.panels)}


def plot(columns, weights, names, bins):
    return Plot([(label, *reversed(histogram(values, weights, bins)))
                 for label, values in components(columns, names or columns.names)])
