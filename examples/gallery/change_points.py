# %% [markdown]
# Accidents in a mine, year by year: when did the rate change, and how often? The number of changes is
# unknown, so runs of the model differ in length.

# %%
import numpy as np
import psn

YEARS = 40
ACCIDENTS = np.r_[np.random.default_rng(1).poisson(4, 22), np.random.default_rng(2).poisson(1, 18)]


@psn.model
def mine():
    changes = psn.sample(psn.Categorical([0.4, 0.4, 0.2]), "changes")
    places = sorted(psn.sample(psn.Uniform(0, YEARS), "place", index=i) for i in range(changes))
    rates = [psn.sample(psn.Gamma(2, 0.7), "rate", index=i) for i in range(changes + 1)]
    part = np.searchsorted(places, np.arange(YEARS))
    psn.observe(psn.Poisson(np.array(rates)[part]), "accidents")
    return changes


# %% Markov chains jump between numbers of changes.
post = psn.infer(mine, {"accidents": ACCIDENTS}, engine="rmh", samples=8000, chains=2)
print(post)

# %% Where there was one change, when was it?
post = psn.infer(mine, {"accidents": ACCIDENTS}, engine="rmh", samples=8000, chains=2,
                 queries=["changes", "place_0", "rate_0", "rate_1"])
one = post["changes"] == 1
print("a change, with probability %.2f" % one.mean())
print("in year %.1f +- %.1f" % (post["place_0"][one].mean(), post["place_0"][one].std()))

# %% All places of the one change, as a histogram.
psn.Plot({
    "title": "when the rate changed", "width": 480, "height": 200, "mark": "bar",
    "data": {"values": [{"year": year} for year in post["place_0"][one].tolist()]},
    "encoding": {"x": {"field": "year", "type": "quantitative", "bin": {"step": 1}},
                 "y": {"aggregate": "count", "title": "samples"}},
}).save("change_points.svg")
