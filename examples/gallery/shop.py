# %% [markdown]
# A shop counts its customers. How many come in an hour?
#
# Notebooks run this cell by cell; `python3 shop.py` runs all of it.

# %%
import psn


@psn.model
def shop():
    rate = psn.sample(psn.Gamma(2, 1), "rate")
    psn.observe(psn.Poisson(8 * rate), "count")
    return rate


# %% The posterior by importance sampling; exactly it is Gamma(14, 9), with mean 14/9.
post = psn.infer(shop, {"count": 12}, samples=20_000)
print(post)

# %% What tomorrow may bring.
print(post.predict(2000))

# %% A surrogate in the shop's place, and how far it is from the shop.
surrogate = psn.train_surrogate(shop, traces=10_000)
print(surrogate)
print(psn.compare(shop, surrogate, 5000).conditional.kl, "nats per run")

# %% An inference network is trained once, and asked for any day.
network = psn.train_inference(shop, traces=10_000)
for count in (5, 12, 30):
    day = psn.infer(shop, {"count": count}, network=network, samples=2000)
    print(count, "customers:", day.mean("rate"), "exactly", (2 + count) / 9)

# %% The rate after 12 customers.
post.plot("rate").save("shop.svg")
