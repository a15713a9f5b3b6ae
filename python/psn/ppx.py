"""A simulator in Python, served to an inference engine over PPX.

    from psn import ppx

    def program():
        mu = ppx.sample(ppx.Normal(1, 2), name="mu")
        ppx.observe(ppx.Normal(mu, 1), name="y")
        return mu

    ppx.serve(program, "gaussian", "tcp://127.0.0.1:5555")

Needs pyzmq and flatbuffers (Debian: python3-zmq, python3-flatbuffers). Numbers are floats, arrays are
anything with .shape and .ravel(), or (nested) lists; draws come back as floats or nested lists.
"""

import collections
import contextlib
import math
import os
import signal
import socket
import struct
import sys
import time
import traceback

import zmq

from psn import wire

DEFAULT_ENDPOINT = "tcp://127.0.0.1:5555"
SYSTEM_NAME = "psn python 0.2.0"
# Seconds that an engine may be silent in the middle of a run while others wait.
PATIENCE = 60
# Messages without sense, in a row, after which a peer is cut off.
MAX_NONSENSE = 100

class Distribution:
    """A family (its number in the wire's union) and its parameters in the order of the wire."""

    def __init__(self, family, *parameters):
        self.family = family
        self.parameters = parameters


def Normal(mean, stddev):
    return Distribution(1, mean, stddev)


def Uniform(low, high):
    return Distribution(2, low, high)


def Categorical(probs):
    return Distribution(3, list(probs))


def Poisson(rate):
    return Distribution(4, rate)


def Bernoulli(probability):
    return Distribution(5, probability)


def Beta(concentration1, concentration0):
    return Distribution(6, concentration1, concentration0)


def Exponential(rate):
    return Distribution(7, rate)


def Gamma(concentration, rate):
    return Distribution(8, concentration, rate)


def LogNormal(mean, stddev):
    """Of the logarithm."""
    return Distribution(9, mean, stddev)


def Binomial(total_count, probability):
    return Distribution(10, total_count, probability)


def Weibull(scale, concentration):
    return Distribution(11, scale, concentration)


def __getattr__(name):
    # A family that psn knows may be one that the wire does not.
    what = "PPX has no %s" if name[:1].isupper() else "module 'psn.ppx' has no attribute '%s'"
    raise AttributeError(what % name)


class _Abandoned(BaseException):
    """Ends a run from within: its engine has gone, or sent no answer to our request."""


class _Stop(BaseException):
    """Ends the service: a signal came."""


def _may_follow(peer, other):
    """Could a connection of that name have been made after the other? ROUTER sockets number the peers
    that choose no name themselves: a zero, then four bytes."""
    if any(name is None or len(name) != 5 or name[0] != 0 for name in (peer, other)):
        return True
    return 0 < (int.from_bytes(peer, "big") - int.from_bytes(other, "big")) % 2**32 < 2**31


class _Connections:
    """Who is connected. A ROUTER socket does not say when a peer goes; its monitor does, but knows
    connections only by file descriptor, which every message has as well."""

    def __init__(self, server):
        self.monitor = server.get_monitor_socket(zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)
        self.monitor.rcvhwm = 0
        self.peers = {}  # by descriptor, of open connections; None until it has spoken
        self.before = {}  # by descriptor: who spoke last through it while it was another's
        self.nonsense = collections.Counter()  # messages in a row, by descriptor

    def gone(self):
        """Peers that have gone since the last call."""
        gone = set()
        while self.monitor.poll(0):
            kind, fd = struct.unpack("=Hi", self.monitor.recv_multipart()[0])
            peer = self.peers.pop(fd, None)
            if peer is not None:
                gone.add(peer)
                self.before[fd] = peer
            del self.nonsense[fd]
            if kind == zmq.EVENT_ACCEPTED:
                self.peers[fd] = None
        return gone

    def is_open(self, peer, frame):
        """Whose connection a frame came over. To be asked after gone(): a new connection may have the
        descriptor of an old one, much of which may still be unread."""
        fd = frame.get(zmq.SRCFD)
        if fd not in self.peers:
            return False
        if peer != self.peers[fd]:
            if not all(_may_follow(peer, other) for other in (self.before.get(fd), self.peers[fd])):
                return False
            self.peers[fd] = peer
            del self.nonsense[fd]
        return True

    def judge(self, frame, sense):
        """Did that message make sense? Who talks nonsense all the time, as no engine does, is cut off:
        nonsense could fill the memory faster than it can be read."""
        fd = frame.get(zmq.SRCFD)
        self.nonsense[fd] = 0 if sense else self.nonsense[fd] + 1
        if self.nonsense[fd] == MAX_NONSENSE:
            with contextlib.suppress(OSError):  # it may be gone
                with socket.socket(fileno=os.dup(fd)) as connection:  # ZeroMQ has no word for it
                    connection.shutdown(socket.SHUT_RDWR)


class _Server:
    """One run at a time. What other engines send meanwhile waits, but for handshakes."""

    def __init__(self, program, model_name, router):
        self.program, self.model_name, self.router = program, model_name, router
        self.connections = _Connections(router)
        self.engine = None  # whose run is under way
        self.letters = {}  # by engine, in the order of arrival: the last message of each
        self.numbers = {}  # by engine: what it numbers its last message with, if it does

    def send(self, engine, message):
        self.router.send_multipart([engine, *self.numbers.get(engine, []), b"", message])

    def collect(self):
        """Waits a while for a message, and puts it where it belongs."""
        try:
            frames = self.router.recv_multipart(copy=False)
        except zmq.Again:
            frames = None
        for engine in self.connections.gone():
            self.letters.pop(engine, None)
            self.numbers.pop(engine, None)
            if engine is not None and engine == self.engine:
                self.engine = None
        if not frames:
            return
        engine = frames[0].bytes
        if self.connections.is_open(engine, frames[-1]):
            self.connections.judge(frames[-1], self.sort(engine, frames[1:]))

    def sort(self, engine, frames):
        """Puts a message where it belongs; says whether it made sense. It consists of perhaps
        its number, nothing, and the message itself. The answer has the same before it; what lacks the
        empty frame cannot be answered."""
        before = 1 if frames and len(frames[0]) == 0 else 2
        if len(frames) <= before or len(frames[before - 1]) != 0 or len(frames[0]) > 64:
            return False
        self.numbers[engine] = [frame.bytes for frame in frames[:before - 1]]
        message = frames[before].bytes if len(frames) == before + 1 else b""
        kind = wire.kind(message)
        if kind == wire.HANDSHAKE and engine != self.engine:
            self.letters.pop(engine, None)
            self.greet(engine)
        else:
            self.letters[engine] = message
        return kind != 0

    def answer(self):
        """The next message of the engine whose run is under way."""
        deadline = time.monotonic() + PATIENCE
        while self.engine is not None and self.engine not in self.letters:
            if self.letters and time.monotonic() > deadline:
                break
            self.collect()
        if self.engine not in self.letters:
            raise _Abandoned()
        return self.letters[self.engine]

    def ask(self, request, kind):
        """Sends a request and returns the body of the answer."""
        self.send(self.engine, request)
        message = self.answer()
        if wire.kind(message) != kind:
            raise _Abandoned()  # and the letter stays, to be taken for what it is
        del self.letters[self.engine]
        return wire.decode(message)[1]

    def serve(self):
        while True:
            while not self.letters:
                self.collect()
            engine = next(iter(self.letters))
            kind = wire.kind(self.letters.pop(engine))
            if kind == wire.HANDSHAKE:
                self.greet(engine)
            elif kind == wire.RUN:
                self.run(engine)
            else:
                self.send(engine, wire.encode(wire.RESET))

    def greet(self, engine):
        names = (SYSTEM_NAME, self.model_name)
        self.send(engine, wire.encode(wire.HANDSHAKE_RESULT, lambda b: wire.table(
            b, [wire.text(b, name) for name in names])))

    def run(self, engine):
        self.engine = engine
        reply = wire.encode(wire.RESET)
        try:
            result = self.program()
            reply = wire.encode(wire.RUN_RESULT, lambda b: wire.table(b, [wire.tensor(b, result)]))
        except _Abandoned:
            return
        except Exception:  # PPX has no word for it: the engine gets a Reset
            traceback.print_exc()
        finally:
            self.engine = None
        self.send(engine, reply)


_server = None  # the one that runs in this process


def _address(address, name):
    if address or name:
        return address or name
    caller = sys._getframe(2)
    return "%s:%d" % (os.path.basename(caller.f_code.co_filename), caller.f_lineno)


def sample(distribution, name="", address="", control=True):
    """Draws a latent random value. The address, by default the name or else the line of code, tells
    choices apart; control=False: always drawn from the distribution itself."""
    address = _address(address, name)
    request = wire.encode(wire.SAMPLE, lambda b: wire.request(b, address, name, distribution,
                                                              control=control))
    return wire.value(_server.ask(request, wire.SAMPLE_RESULT).table(0))


def observe(distribution, value=None, name="", address=""):
    """States that a quantity is measurable. `value` is the program's own data; None: the engine has
    it, or draws it. Returns what was observed: NaN if neither program nor engine tells."""
    address = _address(address, name)
    request = wire.encode(wire.OBSERVE, lambda b: wire.request(b, address, name, distribution,
                                                               value))
    observed = wire.value(_server.ask(request, wire.OBSERVE_RESULT).table(0))
    if observed is None:
        observed = value
    return math.nan if observed is None else observed


def observe_value(value, name="", address=""):
    """The same of a quantity that the program computes, instead of drawing it: it has no density,
    so only networks can infer from it. Returns what was observed, else `value`."""
    return observe(None, value, name, address)


def until(body, accept):
    """A rejection loop: body() until accept() holds for what it returned, which is returned. The
    protocol has no word for it: an engine sees the rejected rounds as choices like others, which is
    as exact, and costs inference networks more (psn.until in a program of the same process)."""
    while True:
        value = body()
        if accept(value):
            return value


def tag(value, name="", address=""):
    """Records a derived quantity."""
    address = _address(address, name)
    request = wire.encode(wire.TAG, lambda b: wire.table(
        b, [wire.text(b, address), wire.text(b, name), wire.tensor(b, value)]))
    _server.ask(request, wire.TAG_RESULT)


def serve(program, model_name, endpoint=DEFAULT_ENDPOINT):
    """Serves until SIGINT or SIGTERM; each run calls program(). Of several engines one has a run at a
    time, the others wait for their turn."""
    global _server

    def stop(number, frame):
        raise _Stop()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    context = zmq.Context()
    router = context.socket(zmq.ROUTER)
    router.linger = 0
    router.maxmsgsize = wire.MAX_MESSAGE_BYTES
    router.rcvtimeo = 100
    # libzmq 4.3.4 aborts when the peer of a full queue goes with a PING unread behind it; and without
    # a domain it takes any bytes for messages of old versions.
    router.rcvhwm = 0
    router.zap_domain = b"psn"
    _server = _Server(program, model_name, router)
    router.bind(endpoint)
    try:
        _server.serve()
    except _Stop:
        pass
    finally:
        _server = None
        router.disable_monitor()
        router.close()
        context.term()
