# %% [markdown]
# A surrogate is trained in Python, and used by a program in C++ (examples/embed/shop.cpp, 40 lines):
# it needs the .psn file and psn's libraries, no Python. psn is to be installed where CMake finds it:
# `cmake --install build --prefix DIR`, and `CMAKE_PREFIX_PATH=DIR` in the environment.

# %%
import os
import re
import subprocess
import psn


@psn.model
def shop():
    rate = psn.sample(psn.Gamma(2, 1), "rate")
    psn.observe(psn.Poisson(8 * rate), "count")


network = psn.train_surrogate(shop, traces=20_000, validation=1000, out="s.psn")
print(network)

# %% The program, by CMake.
here = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else "."
subprocess.run(["cmake", "-S", here + "/../embed", "-B", "shop", "-G", "Ninja"], check=True)
subprocess.run(["cmake", "--build", "shop"], check=True)

# %% Asked for several days; exactly the rate is (2 + count) / 9.
answers = []
for count in (4, 8, 12, 16, 20, 24):
    said = subprocess.run(["shop/shop", "s.psn", str(count)], check=True, capture_output=True,
                          text=True).stdout
    rate, deviation = map(float, re.search(r"rate given \d+: (\S+) \+- (\S+)", said).groups())
    answers.append({"count": count, "rate": rate, "low": rate - deviation,
                    "high": rate + deviation, "exact": (2 + count) / 9})
    print(count, rate, answers[-1]["exact"])

# %% Points and bars are the program's, the line is exact.
x = {"field": "count", "type": "quantitative", "title": "customers"}
psn.Plot({"width": 400, "height": 260, "title": "the rate, as the C++ program says",
          "data": {"values": answers}, "layer": [
    {"mark": "line", "encoding": {"x": x, "y": {"field": "exact", "type": "quantitative"}}},
    {"mark": "rule", "encoding": {"x": x, "y": {"field": "low", "type": "quantitative"},
                                  "y2": {"field": "high"}}},
    {"mark": {"type": "point", "filled": True, "color": "#b3400c"},
     "encoding": {"x": x, "y": {"field": "rate", "type": "quantitative", "title": "rate"}}},
]}).save("embedding.svg")
