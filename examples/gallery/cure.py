# %% [markdown]
# The paper's third experiment in small: a composite part cures in an autoclave, its thickness and
# heat transfer are uncertain, and a sensor sits at the bottom of its tool. How hot does the part get
# inside? `psn experiment composite-cure` is the whole of it (docs/composite-cure.md).

# %%
import numpy as np
import psn

CYCLE = [20, 2, 110, 60, 2, 180]  # start, two ramps (C a minute), holds (C, minutes)

# %% Runs of the finite-element simulator are kept: it need not run again for another network.
store = psn.generate("composite-cure", 3000, "cures")
print(store.contents().length.mean, "choices a run")

# %% A part that is a standard deviation off in all that is uncertain, with its sensor.
TRUTH = {"config": [1, 1, 1, 1]}
run = psn.simulate("composite-cure", 1, held=TRUTH, record=1, seed=9).traces[0]
values = {step.name: np.asarray(step.value) for step in run.steps}
print({name: value.shape for name, value in values.items()})

# %% A network that has seen the kept runs guesses the configuration from the sensor.
network = psn.train_inference(data=store)  # as many passes as so few runs bear
print(network)
data = {name: values[name] for name in
        ("temps_config", "air_temp_top", "air_temp_bot", "temps_bottom")}
post = psn.infer("composite-cure", data, network=network, engine="network", samples=200,
                 queries=["config", "latent_temps"])
for k, name in enumerate(["tool", "laminate", "heat transfer below", "heat transfer above"]):
    print("%-20s %5.2f +- %.2f, in truth %d, by the prior 0 +- 1"
          % (name, post.mean("config", k), post.std("config", k), TRUTH["config"][k]))
# The sensor tells of the heat transfer below; 3,000 runs are few, and psn.calibrate says how far to
# believe such a network.

# %% Inside the part, 30 mm above the bottom, over time: draws, and the truth.
DEPTH = 15  # of 20, 2 mm apart
inside = post["latent_temps"].reshape(len(post), 60, 20)[::8, :, DEPTH]
truth = values["latent_temps"].reshape(60, 20)[:, DEPTH]
lines = [{"draw": i, "minute": 5 * (k + 1), "C": c}
         for i, line in enumerate(inside.tolist()) for k, c in enumerate(line)]
points = [{"minute": 5 * (k + 1), "C": c} for k, c in enumerate(truth.tolist())]
axes = {"x": {"field": "minute", "type": "quantitative"},
        "y": {"field": "C", "type": "quantitative"}}
psn.Plot({"width": 480, "height": 260, "title": "30 mm above the bottom", "layer": [
    {"data": {"values": lines}, "mark": {"type": "line", "opacity": 0.3},
     "encoding": {**axes, "detail": {"field": "draw"}}},
    {"data": {"values": points}, "mark": {"type": "point", "color": "#b3400c", "size": 12},
     "encoding": axes},
]}).save("cure.svg")
