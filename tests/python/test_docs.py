"""The Python of the documentation, as a newcomer would type it, page by page."""

import contextlib
import io
import os
import re
import tempfile
import unittest
import warnings

SOURCE = os.environ["PSN_SOURCE"]


class Pages(unittest.TestCase):
    def run_page(self, page):
        with open(os.path.join(SOURCE, page)) as file:
            text = file.read().replace('budget="2m"', 'budget="1s"')
        blocks = [text] if page.endswith(".py") else re.findall(r"```python\n(.*?)```", text, re.S)
        names = {"__name__": "page"}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), \
                contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for block in blocks:
                exec(compile(block, page, "exec"), names)
        return blocks, names

    def test_howto(self):
        blocks, names = self.run_page("docs/howto/use-python.md")
        self.assertGreater(len(blocks), 6)
        self.assertLess(abs(names["post"].mean("rate") - 14 / 9), 0.05)

    def test_readme(self):
        blocks, names = self.run_page("README.md")
        self.assertEqual(len(blocks), 1)
        self.assertLess(abs(names["post"].mean("rate") - 14 / 9), 0.05)


if __name__ == "__main__":
    unittest.main()
