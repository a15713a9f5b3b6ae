"""The examples in Python, as a newcomer would run them. (Pages of the documentation: tests/docs.)"""

import contextlib
import io
import os
import runpy
import tempfile
import unittest
import warnings

SOURCE = os.environ["PSN_SOURCE"]


class Examples(unittest.TestCase):
    def run_example(self, name):
        """What it leaves behind, by name."""
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), \
                contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return runpy.run_path(os.path.join(SOURCE, name))

    def test_shop(self):
        names = self.run_example("examples/python/shop.py")
        self.assertLess(abs(names["day"].mean("rate") - 32 / 9), 0.2)

    def test_change_points(self):
        names = self.run_example("examples/python/change_points.py")
        self.assertGreater(names["one"].mean(), 0.3)
        self.assertLess(abs(names["post"]["place_0"][names["one"]].mean() - 22), 3)


if __name__ == "__main__":
    unittest.main()
