"""The shop of support.py as a simulator for the command line: without the compiled part."""

import sys

from psn import ppx


def shop():
    rate = ppx.sample(ppx.Gamma(2, 1), name="rate")
    ppx.observe(ppx.Poisson(8 * rate), name="count")
    return rate


ppx.serve(shop, "shop", sys.argv[1])
