"""Runs a script of examples/gallery in a folder of its own, as its reader does: gallery.py NAME. It
must leave its figure, and what it found must be what is known otherwise."""

import os
import runpy
import subprocess
import sys
import tempfile
import warnings

SOURCE, BUILD = os.environ["PSN_SOURCE"], os.environ["PSN_BUILD"]


def near(value, expected, tolerance):
    assert abs(value - expected) < tolerance, (value, expected)


def shop(names):
    near(names["post"].mean("rate"), 14 / 9, 0.05)
    near(names["day"].mean("rate"), 32 / 9, 0.2)


def change_points(names):  # the data change after 22 years
    assert names["one"].mean() > 0.3
    near(names["post"]["place_0"][names["one"]].mean(), 22, 3)


def epidemic(names):  # least squares has 1.67 and 0.45
    near(names["post"].mean("infect"), 1.67, 0.2)
    near(names["post"].mean("recover"), 0.45, 0.08)


def predator_prey(names):
    for name, true in names["TRUTH"].items():
        near(names["post"].mean(name), true, 4 * names["post"].std(name))
    assert names["post"].std("die") < 0.6 / 12**0.5 / 1.5  # than a priori


def circuit(names):
    chains, sound = names["chains"], names["sound"]
    assert chains.mean("open") < 0.01
    near(chains["microfarad"][sound].mean(), 0.8, 0.05)
    near(chains["resistor"].mean(), 22, 2)


def control_flow(names):
    assert names["comparison"].conditional.kl < 0.5


def cure(names):
    assert names["post"].std("config") < 0.8
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


def main(name):
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


main(sys.argv[1])
