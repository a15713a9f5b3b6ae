"""An engine that is not psn: it speaks as PyProb 1.5 does, byte for byte.

engine.py golden RECORDING...   are our messages those that PyProb sent in recorded conversations?
engine.py infer ENDPOINT RUNS NAME=VALUE...
    importance sampling of a program with normal variables; prints the posterior mean of its result
    and the effective sample size
"""
import math
import random
import sys

import zmq

from psn import ppx

HANDSHAKE = ppx._encode(ppx.HANDSHAKE, lambda b: ppx._table(b, [ppx._text(b, "pyprob 1.5.0")]))
RUN = ppx._encode(ppx.RUN)
OBSERVE_RESULT = ppx._encode(ppx.OBSERVE_RESULT)
TAG_RESULT = ppx._encode(ppx.TAG_RESULT)


def sample_result(value):
    return ppx._encode(ppx.SAMPLE_RESULT, lambda b: ppx._table(b, [ppx._tensor(b, value)]))


def golden(path):
    ours = {ppx.HANDSHAKE: HANDSHAKE, ppx.RUN: RUN, ppx.OBSERVE_RESULT: OBSERVE_RESULT}
    for line in open(path):
        side, message = line[0], bytes.fromhex(line[2:])
        if side != ">":
            continue
        kind, body = ppx._decode(message)
        again = ours.get(kind)
        if not again:
            numbers, shape = body.table(0).numbers(0, "d", 8), body.table(0).numbers(1, "i", 4)
            again = sample_result(numbers if shape else numbers[0])
        if again != message:
            sys.exit("%s: kind %d: we send\n%s, PyProb sent\n%s"
                     % (path, kind, again.hex(), message.hex()))


class Simulator:
    def __init__(self, endpoint):
        self.socket = zmq.Context.instance().socket(zmq.REQ)
        self.socket.linger = 0
        self.socket.rcvtimeo = 20000
        self.socket.connect(endpoint)
        kind, _ = self.ask(HANDSHAKE)
        assert kind == ppx.HANDSHAKE_RESULT, kind

    def ask(self, message):
        self.socket.send(message)
        return ppx._decode(self.socket.recv())

    def run(self, observed):
        """One run with choices from the prior: its result and log weight."""
        log_weight = 0.0
        kind, body = self.ask(RUN)
        while kind != ppx.RUN_RESULT:
            if kind == ppx.TAG:
                kind, body = self.ask(TAG_RESULT)
                continue
            assert body.byte(2) == 1, "not a normal variable"
            mean, stddev = (ppx._value(body.table(3).table(k)) for k in (0, 1))
            if kind == ppx.SAMPLE:
                kind, body = self.ask(sample_result([random.gauss(mean, stddev)]))
            else:
                name = body.String(body.place(1)).decode()
                z = (observed[name] - mean) / stddev
                log_weight -= 0.5 * z * z + math.log(stddev)
                kind, body = self.ask(OBSERVE_RESULT)
        return ppx._value(body.table(0)), log_weight


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


if sys.argv[1] == "golden":
    for recording in sys.argv[2:]:
        golden(recording)
else:
    infer(*sys.argv[2:])
