"""An engine that is not psn: it speaks as PyProb 1.5 does, byte for byte.

engine.py golden RECORDING...   are our messages those that PyProb sent in recorded conversations?
engine.py infer ENDPOINT RUNS NAME=VALUE...
    importance sampling of a program with normal variables; prints the posterior mean of its result,
    or without one of its first variable, and the effective sample size
engine.py data ENDPOINT         how many observations of a run come with data of the simulator's own
"""
import collections
import math
import random
import sys

import zmq

from psn import wire

HANDSHAKE = wire.encode(wire.HANDSHAKE, lambda b: wire.table(b, [wire.text(b, "pyprob 1.5.0")]))
RUN = wire.encode(wire.RUN)
OBSERVE_RESULT = wire.encode(wire.OBSERVE_RESULT)
TAG_RESULT = wire.encode(wire.TAG_RESULT)


def sample_result(value):
    return wire.encode(wire.SAMPLE_RESULT, lambda b: wire.table(b, [wire.tensor(b, value)]))


def golden(path):
    ours = {wire.HANDSHAKE: HANDSHAKE, wire.RUN: RUN, wire.OBSERVE_RESULT: OBSERVE_RESULT}
    for line in open(path):
        side, message = line[0], bytes.fromhex(line[2:])
        if side != ">":
            continue
        kind, body = wire.decode(message)
        again = ours.get(kind)
        if not again:
            numbers, shape = body.table(0).numbers(0, "d", 8), body.table(0).numbers(1, "i", 4)
            again = sample_result(numbers if shape else numbers[0])
        if again != message:
            sys.exit("%s: kind %d: we send\n%s, PyProb sent\n%s"
                     % (path, kind, again.hex(), message.hex()))


def text(body, field):
    """As PyProb reads it: it cannot do without."""
    return body.String(body.place(field)).decode()


class Simulator:
    def __init__(self, endpoint):
        self.socket = zmq.Context.instance().socket(zmq.REQ)
        self.socket.linger = 0
        self.socket.rcvtimeo = 20000
        self.socket.connect(endpoint)
        kind, _ = self.ask(HANDSHAKE)
        assert kind == wire.HANDSHAKE_RESULT, kind

    def ask(self, message):
        self.socket.send(message)
        return wire.decode(self.socket.recv())

    def run(self, observed):
        """One run with choices from the prior: its result and log weight."""
        log_weight = 0.0
        first = None
        self.data = 0
        kind, body = self.ask(RUN)
        while kind != wire.RUN_RESULT:
            assert kind in (wire.SAMPLE, wire.OBSERVE, wire.TAG), kind
            address, name = text(body, 0), text(body, 1)
            assert address
            if kind == wire.TAG:
                kind, body = self.ask(TAG_RESULT)
                continue
            assert body.byte(2) == 1, "not a normal variable"
            mean, stddev = (wire.value(body.table(3).table(k)) for k in (0, 1))
            if kind == wire.SAMPLE:
                drawn = random.gauss(mean, stddev)
                first = drawn if first is None else first
                kind, body = self.ask(sample_result([drawn]))
            else:
                self.data += body.table(4) is not None
                z = (observed[name] - mean) / stddev
                log_weight -= 0.5 * z * z + math.log(stddev)
                kind, body = self.ask(OBSERVE_RESULT)
        result = wire.value(body.table(0))
        return first if result is None else result, log_weight


def infer(endpoint, runs, *observations):
    random.seed(1)
    observed = {name: float(value) for name, value in (o.split("=") for o in observations)}
    simulator = Simulator(endpoint)
    results = [simulator.run(observed) for _ in range(int(runs))]
    largest = max(log_weight for _, log_weight in results)
    weights = [math.exp(log_weight - largest) for _, log_weight in results]
    total = sum(weights)
    print(sum(w * x for w, (x, _) in zip(weights, results)) / total,
          total * total / sum(w * w for w in weights))


def data(endpoint):
    simulator = Simulator(endpoint)
    simulator.run(collections.defaultdict(float))
    print(simulator.data)


if sys.argv[1] == "golden":
    for recording in sys.argv[2:]:
        golden(recording)
elif sys.argv[1] == "data":
    data(sys.argv[2])
else:
    infer(*sys.argv[2:])
