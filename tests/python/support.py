"""What the tests of the Python package share."""

import json
import os
import subprocess
import tempfile
import unittest

import psn

PROGRAM = os.environ["PSN_PROGRAM"]


@psn.model
def shop():
    """Customers of a shop: the posterior of the rate is Gamma(2 + count, 1 + 8)."""
    rate = psn.sample(psn.Gamma(2, 1), "rate")
    psn.observe(psn.Poisson(8 * rate), "count")
    return rate


def psn_text(*words):
    """What the command line says."""
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError("psn %s: %s" % (" ".join(words), done.stderr))
    return done.stdout


def psn_json(*words):
    return json.loads(psn_text(*words, "--json", "--quiet"))


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)
