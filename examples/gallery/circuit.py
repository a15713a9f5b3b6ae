# %% [markdown]
# A filter on a board does not ring as it should. Has a part drifted, or is the capacitor open?
#
# The simulator is ngspice, called once a run: a series circuit of resistor, coil and capacitor, the
# voltage at the capacitor after a step of 1 V. Two branches of the program, two circuits.

# %%
import subprocess
import numpy as np
import psn

TIMES = np.arange(1, 13) * 5e-6  # seconds
NETLIST = """a damped filter
V1 in 0 PULSE(0 1 0 1n 1n 1 2)
R1 in a {resistor}
L1 a out 100u
C1 out 0 {capacitor}
R2 out 0 10k
.tran 0.5u 61u
.print tran v(out)
.end
"""


def voltages(resistor, capacitor):
    netlist = NETLIST.format(resistor=resistor, capacitor=capacitor)
    text = subprocess.run(["ngspice", "-b"], input=netlist, capture_output=True, text=True,
                          check=True).stdout
    rows = [line.split() for line in text.splitlines() if line[:1].isdigit()]
    course = np.array([[float(x) for x in row[1:]] for row in rows if len(row) == 3])
    return np.interp(TIMES, course[:, 0], course[:, 1])


@psn.model
def board():
    resistor = psn.sample(psn.Normal(20, 4), "resistor")
    if psn.sample(psn.Categorical([0.8, 0.2]), "open"):
        capacitor = 30e-12  # what the wires have
    else:
        capacitor = 1e-6 * psn.sample(psn.Normal(1, 0.25), "microfarad")
    psn.observe(psn.Normal(voltages(max(resistor, 0.1), max(capacitor, 1e-12)), 0.05), "voltage")


# %% Measured: a capacitor of 0.8 uF where the drawing says 1 uF.
measured = voltages(22, 0.8e-6) + 0.05 * np.random.default_rng(7).normal(size=len(TIMES))

# %% Two processes run ngspice; the runs are kept, and a network learns from them what to propose.
store = psn.generate(board, 2000, "runs", workers=2)
network = psn.train_inference(data=store)
post = psn.infer(board, {"voltage": measured}, network=network, samples=300, workers=2,
                 queries=["open", "resistor", "microfarad"])
print(post)
print("open with probability %.3f" % post.mean("open"))

# %% The voltage by the parts that were drawn, and what was measured.
draws = post.resample(20)  # none of them has an open capacitor, or this would be NaN
lines = [{"run": i, "time": 1e6 * t, "voltage": v}
         for i, (r, c) in enumerate(zip(draws["resistor"], draws["microfarad"]))
         for t, v in zip(TIMES, voltages(r, 1e-6 * c))]
points = [{"time": 1e6 * t, "voltage": v} for t, v in zip(TIMES, measured)]
axes = {"x": {"field": "time", "type": "quantitative", "title": "microseconds"},
        "y": {"field": "voltage", "type": "quantitative", "title": "V"}}
psn.Plot({"width": 480, "height": 260, "title": "the capacitor after a step of 1 V", "layer": [
    {"data": {"values": lines}, "mark": {"type": "line", "opacity": 0.4},
     "encoding": {**axes, "detail": {"field": "run"}}},
    {"data": {"values": points}, "mark": {"type": "point", "color": "#b3400c"}, "encoding": axes},
]}).save("circuit.svg")
