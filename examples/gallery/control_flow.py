# %% [markdown]
# The paper's first experiment in small: a program whose path depends on chance, and a surrogate that
# must learn where it goes next, not only what it draws there. `psn experiment control-flow` is the
# whole of it.

# %%
import psn

# %% The simulator is built in. One run of it, choice by choice.
for step in psn.simulate("control-flow", 1, record=1, seed=3).traces[0].steps:
    print("%-8s %-30s %s" % (step.role, step.address, step.value))

# %% A surrogate, and how far it is from the program, in nats per run.
surrogate = psn.train_surrogate("control-flow", traces=20_000, validation=1000)
print(surrogate)
comparison = psn.compare("control-flow", surrogate, 10_000, out="comparison")
print("%.4f +- %.4f" % (comparison.conditional.kl, comparison.conditional.standard_error))
print("paths: total variation %.3f, by sampling alone %.3f"
      % (comparison.path_total_variation.value, comparison.path_total_variation.floor))

# %% The same question to both.
for model in ("control-flow", surrogate):
    post = psn.infer(model, {"x": 5}, samples=20_000)
    print(post)

# %% Where the two go from each address, side by side.
psn.report("comparison", "control_flow.svg", figure="address-transitions")
