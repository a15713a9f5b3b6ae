"""A simulator in Python:
psn infer 'exec:env PYTHONPATH=python python3 examples/remote/gaussian.py {endpoint}' \
    --observe obs0=8 --observe obs1=9
"""
import math
import sys

from psn import ppx


def program():
    mu = ppx.sample(ppx.Normal(1, math.sqrt(5)), name="mu")
    ppx.observe(ppx.Normal(mu, math.sqrt(2)), name="obs0")
    ppx.observe(ppx.Normal(mu, math.sqrt(2)), name="obs1")
    return mu


ppx.serve(program, "gaussian", *sys.argv[1:])
