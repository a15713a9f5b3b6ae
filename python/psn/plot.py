"""Figures in Vega-Lite; those of columns are weighted histograms."""

import json
import os

import numpy as np

from psn import _core

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


def figure_files(path):
    """Where to draw a figure, by the ending of its file."""
    files, ending = _core.FigureFiles(), os.path.splitext(os.fspath(path))[1][1:]
    if ending not in ("svg", "png", "pdf"):
        raise _core.InvalidArgument("a figure is a .svg, .png or .pdf, not '%s'" % os.fspath(path))
    setattr(files, ending, os.fspath(path))
    return files


class Plot:
    """A figure in Vega-Lite, of psn's or of one's own: shown by notebooks that know it, and drawn into
    files."""

    def __init__(self, spec):
        self.spec = {"$schema": SCHEMA, **spec}

    def save(self, path):
        """To .svg, .png or .pdf, which needs node and, but for the first, rsvg-convert; or its
        specification to .vl.json. Returns the path."""
        if os.fspath(path).endswith(".json"):
            with open(path, "w") as file:
                json.dump(self.spec, file)
        else:
            _core.draw_vega_lite(json.dumps(self.spec), figure_files(path))
        return path

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"application/vnd.vegalite.v5+json": self.spec, "text/plain": "<psn.Plot>"}


def panel(label, edges, densities):
    values = [{"low": a, "high": b, "density": d}
              for a, b, d in zip(edges[:-1].tolist(), edges[1:].tolist(), densities.tolist())]
    return {"title": label, "width": 220, "height": 150, "data": {"values": values}, "mark": "bar",
            "encoding": {"x": {"field": "low", "type": "quantitative", "bin": {"binned": True},
                               "title": label},
                         "x2": {"field": "high"},
                         "y": {"field": "density", "type": "quantitative"}}}


def plot(columns, weights, names, bins):
    return Plot({"hconcat": [panel(label, *reversed(histogram(values, weights, bins)))
                             for label, values in components(columns, names or columns.names)]})
