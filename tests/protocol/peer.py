"""The built-in models in Python: peer.py MODEL ENDPOINT."""
import math
import sys

from psn import ppx


def gaussian():
    mu = ppx.sample(ppx.Normal(1, math.sqrt(5)), name="mu")
    ppx.observe(ppx.Normal(mu, math.sqrt(2)), 8, name="obs0")
    ppx.observe(ppx.Normal(mu, math.sqrt(2)), 9, name="obs1")
    return mu


def hmm():
    initial = [1 / 3, 1 / 3, 1 / 3]
    transition = [[0.7, 0.2, 0.1], [0.15, 0.7, 0.15], [0.1, 0.3, 0.6]]
    mean = [-1, 0.5, 2]
    seen = [-0.8, -1.3, 0.2, 0.9, 0.4, 1.1, 2.4, 1.7, 2.2, 0.3, -0.6, -1.1, 0.1, 0.8, 1.9, 2.6]
    state = 0
    for t in range(16):
        row = initial if t == 0 else transition[state]
        state = int(ppx.sample(ppx.Categorical(row), name=f"x_{t}"))
        ppx.observe(ppx.Normal(mean[state], 1), seen[t], name=f"obs_{t}")
    return state


def branching():
    count = int(ppx.sample(ppx.Poisson(4), name="count"))
    rate = 6
    if count <= 4:
        current, following = 0, 1
        for _ in range(3 * count):
            current, following = following, current + following
        rate = 1 + current + ppx.sample(ppx.Poisson(4), name="extra")
    ppx.observe(ppx.Poisson(rate), 6, name="obs")
    return count


def control_flow():
    theta = ppx.sample(ppx.Beta(2, 5), name="theta")
    total = 0.0
    i = 0
    while True:
        if ppx.sample(ppx.Categorical([1 - 0.7, 0.7]), name=f"bern_{i}") == 1:
            total += ppx.sample(ppx.Normal(1, 0.25), name=f"z_1_{i}")
        else:
            total += ppx.sample(ppx.Normal(1.5, 0.5), name=f"z_2_{i}")
        if ppx.sample(ppx.Categorical([1 - theta, theta]), name=f"c_{i}") == 0:
            break
        i += 1
    ppx.observe(ppx.Normal(total, 0.5), name="x")
    return theta


models = {"gaussian": gaussian, "hmm": hmm, "branching": branching, "control-flow": control_flow}
ppx.serve(models[sys.argv[1]], sys.argv[1], sys.argv[2])
