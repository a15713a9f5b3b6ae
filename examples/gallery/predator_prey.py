# %% [markdown]
# Hares and lynxes, counted now and then. How fast do they breed, hunt and die?
#
# The simulator draws every birth and death by itself (`control=False`): nobody proposes them, and
# the likelihood of the counts given the rates alone nobody has. An inference network learns the
# posterior of the rates from runs, and answers for any pair of courses.

# %%
import numpy as np
import psn

STEPS, COUNTED = 40, 4  # half a year each; counted every two years
TRUTH = {"breed": 0.9, "hunt": 0.012, "die": 0.5}


@psn.model
def predator_prey():
    breed = psn.sample(psn.Uniform(0.4, 1.4), "breed")
    hunt = psn.sample(psn.Uniform(0.005, 0.02), "hunt")
    die = psn.sample(psn.Uniform(0.2, 0.8), "die")
    hares, lynxes, course = 60.0, 40.0, []
    for step in range(STEPS):
        expected = 0.5 * np.array([breed * hares, hunt * hares * lynxes, die * lynxes])
        born, eaten, dead = psn.sample(psn.Poisson(expected + 1e-9), "events", control=False)
        hares = max(hares + born - eaten, 1)
        lynxes = max(lynxes + 0.6 * eaten - dead, 1)
        hares = min(hares, 1000)
        if step % COUNTED == COUNTED - 1:
            course += [hares, lynxes]
    psn.observe(psn.Normal(np.log(course), 0.1), "log_counts")


# %% Data: a run with rates that we know.
run = psn.simulate(predator_prey, 1, held=TRUTH, record=1, seed=5).traces[0]
data = next(step.value for step in run.steps if step.name == "log_counts")

# %% Training, and the network's answer. psn.calibrate says whether to believe it.
network = psn.train_inference(predator_prey, traces=12_000, validation=1000)
print(network)
post = psn.infer(predator_prey, {"log_counts": data}, network=network, engine="network",
                 samples=2000, queries=list(TRUTH))
print(post)

# %% Breeding against dying, and the truth.
draws = [{"breed": b, "die": d} for b, d in zip(post["breed"].tolist(), post["die"].tolist())]
axes = {"x": {"field": "breed", "type": "quantitative", "scale": {"domain": [0.4, 1.4]}},
        "y": {"field": "die", "type": "quantitative", "scale": {"domain": [0.2, 0.8]}}}
psn.Plot({"width": 320, "height": 320, "title": "draws of the posterior, and the truth", "layer": [
    {"data": {"values": draws[:400]}, "mark": {"type": "point", "size": 6}, "encoding": axes},
    {"data": {"values": [TRUTH]}, "mark": {"type": "point", "shape": "cross", "size": 200,
                                           "filled": True, "color": "#b3400c"}, "encoding": axes},
]}).save("predator_prey.svg")
