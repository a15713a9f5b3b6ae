"""What the tests of the Python package share."""

import json
import os
import subprocess
import unittest

import psn

PROGRAM = os.environ["PSN_PROGRAM"]


@psn.model
def shop():
    """Customers of a shop: the posterior of the rate is Gamma(2 + count, 1 + 8)."""
    rate = psn.sample(psn.Gamma(2, 1), "rate")
    psn.observe(psn.Poisson(8 * rate), "count")
    return rate


def psn_json(*words):
    """What the command line answers."""
    done = subprocess.run([PROGRAM, *words, "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError("psn %s: %s" % (" ".join(words), done.stderr))
    return json.loads(done.stdout)


class Case(unittest.TestCase):
    def assertSameColumns(self, columns, expected):
        """Summaries of Python's and the command line's, to the last bit."""
        self.assertEqual([column.name for column in columns], list(expected))
        for column in columns:
            figures = expected[column.name]
            for name, values in (("mean", column.mean), ("sd", column.sd), ("q05", column.quantiles[0]),
                                 ("q50", column.quantiles[2]), ("q95", column.quantiles[4])):
                self.assertEqual(values[0] if column.scalar else list(values), figures[name], name)
