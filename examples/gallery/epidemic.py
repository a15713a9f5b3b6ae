# %% [markdown]
# Influenza in a boarding school of 763 boys, 1978: how infectious was it? The numbers in bed, day by
# day, are from the British Medical Journal (4 March 1978). The simulator is an ordinary differential
# equation, the SIR model, in steps of Runge and Kutta.

# %%
import numpy as np
import psn

BOYS = 763
IN_BED = np.array([3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4])
STEPS = 4  # a day


def course(infect, recover):
    """Infected boys, day by day, from one on."""
    def slope(state):
        new = infect * state[0] * state[1] / BOYS
        return np.array([-new, new - recover * state[1]])

    state, days, h = np.array([BOYS - 1.0, 1.0]), [], 1 / STEPS
    for step in range(len(IN_BED) * STEPS):
        a = slope(state)
        b = slope(state + h / 2 * a)
        c = slope(state + h / 2 * b)
        d = slope(state + h * c)
        state = state + h / 6 * (a + 2 * b + 2 * c + d)
        if step % STEPS == STEPS - 1:
            days.append(state[1])
    return np.maximum(days, 1e-6)


@psn.model
def school():
    infect = psn.sample(psn.LogNormal(0.5, 0.5), "infect")
    recover = psn.sample(psn.LogNormal(-0.7, 0.5), "recover")
    spread = psn.sample(psn.Gamma(2, 0.2), "spread")
    psn.observe(psn.NegativeBinomial(course(infect, recover), spread), "in_bed")


# %% The posterior, by random-walk moves.
post = psn.infer(school, {"in_bed": IN_BED}, engine="rmh", samples=6000, chains=2)
print(post)
print("a boy infects %.2f others at first" % (post["infect"] / post["recover"]).mean())

# %% The epidemic again, by fifty draws; and the data.
draws = zip(post["infect"][::120].tolist(), post["recover"][::120].tolist())
lines = [{"draw": i, "day": day + 1, "boys": boys}
         for i, draw in enumerate(draws) for day, boys in enumerate(course(*draw).tolist())]
points = [{"day": day + 1, "boys": boys} for day, boys in enumerate(IN_BED.tolist())]
axes = {"x": {"field": "day", "type": "quantitative"},
        "y": {"field": "boys", "type": "quantitative", "title": "in bed"}}
psn.Plot({"width": 480, "height": 260, "title": "influenza in a school", "layer": [
    {"data": {"values": lines}, "mark": {"type": "line", "opacity": 0.3},
     "encoding": {**axes, "detail": {"field": "draw"}}},
    {"data": {"values": points}, "mark": {"type": "point", "color": "#b3400c", "filled": True},
     "encoding": axes},
]}).save("epidemic.svg")
