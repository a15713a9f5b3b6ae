"""Runs a script of examples/gallery in a folder of its own, as its reader does: gallery.py NAME [FOLDER].
It must leave its figure, which FOLDER gets, and what it found must be what is known otherwise."""

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import psn

SOURCE, BUILD = os.environ["PSN_SOURCE"], os.environ["PSN_BUILD"]


def near(value, expected, tolerance):
    assert abs(value - expected) < tolerance, (value, expected)


def shop(names):
    near(names["post"].mean("rate"), 14 / 9, 0.05)
    near(names["day"].mean("rate"), 32 / 9, 0.2)


def change_points(names):  # the data change after 22 years
    assert names["one"].mean() > 0.3
    near(names["post"]["place_0"][names["one"]].mean(), 22, 3)


def epidemic(names):
    """Means of the posterior by sums over a grid that has all of it."""
    post, infect, recover = names["post"], np.linspace(1.5, 2, 26), np.linspace(0.35, 0.75, 26)
    spread = np.linspace(1, 60, 40)
    log = np.full((26, 26, 40), -np.inf)
    for i, a in enumerate(infect):
        for j, b in enumerate(recover):
            course = names["course"](a, b)
            prior = psn.LogNormal(0.5, 0.5).log_prob(a) + psn.LogNormal(-0.7, 0.5).log_prob(b)
            for k, c in enumerate(spread):
                log[i, j, k] = (prior + psn.Gamma(2, 0.2).log_prob(c) +
                                psn.NegativeBinomial(course, c).log_prob(names["IN_BED"]))
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    for name, grid, axes in (("infect", infect, (1, 2)), ("recover", recover, (0, 2))):
        exact = weights.sum(axis=axes) @ grid
        near(post.mean(name), exact, 5 * post.std(name) / post.ess**0.5)


def predator_prey(names):
    for name, true in names["TRUTH"].items():
        near(names["post"].mean(name), true, 4 * names["post"].std(name))
    assert names["post"].std("die") < 0.6 / 12**0.5 / 1.5  # than a priori


def circuit(names):
    """Beside sums over a grid, with the circuit's equations solved in closed form."""
    post, inductance, load = names["post"], 1e-4, 1e4
    assert post.mean("open") < 0.01 and post.ess > 30

    def voltages(resistor, capacitor):
        slope = np.array([[-resistor / inductance, -1 / inductance],
                          [1 / capacitor, -1 / (capacitor * load)]])
        end = -np.linalg.solve(slope, [1 / inductance, 0])
        rates, modes = np.linalg.eig(slope)
        parts = modes[1] * np.linalg.solve(modes, -end.astype(complex))
        return end[1] + (np.exp(np.outer(names["TIMES"], rates)) @ parts).real

    ohm, microfarad = np.linspace(8, 34, 105), np.linspace(0.4, 1.6, 121)
    log = np.array([[psn.Normal(20, 4).log_prob(r) + psn.Normal(1, 0.25).log_prob(c)
                     - 200 * np.sum((names["measured"] - voltages(r, 1e-6 * c))**2)
                     for c in microfarad] for r in ohm])
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    for name, grid, axis in (("resistor", ohm, 1), ("microfarad", microfarad, 0)):
        marginal = weights.sum(axis=axis)
        mean = marginal @ grid
        sd = (marginal @ (grid - mean)**2)**0.5
        near(post.mean(name), mean, 5 * sd / post.ess**0.5)
        near(post.std(name), sd, 5 * sd / (2 * post.ess)**0.5)


def control_flow(names):
    assert names["comparison"].conditional.kl < 0.5


def cure(names):
    near(names["post"].mean("config", 2), 1, 0.6)
    assert names["post"].std("config", 2) < 0.4  # a priori 1
    assert abs(names["inside"].mean(axis=0) - names["truth"]).max() < 15


def embedding(names):
    for answer in names["answers"]:
        near(answer["rate"], answer["exact"], 0.35)


def prepare(name, folder):
    """What the script says that its reader needs."""
    if name == "circuit":
        subprocess.run([SOURCE + "/scripts/setup", "ngspice"], check=True)
    if name == "embedding":
        os.environ["CMAKE_PREFIX_PATH"] = folder + "/psn"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", folder + "/psn"], check=True,
                       stdout=subprocess.DEVNULL)


def main(name, kept=None):
    kept = kept and os.path.abspath(kept)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        prepare(name, folder)
        os.chdir(folder)
        path = "%s/examples/gallery/%s.py" % (SOURCE, name)
        with open(path) as script:
            assert len(script.readlines()) <= 80
        globals()[name](runpy.run_path(path))
        with open(name + ".svg") as figure:
            assert "<svg" in figure.read()
        if kept:
            shutil.copy(name + ".svg", kept)


main(*sys.argv[1:])
