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

import math
import os
import signal
import struct
import sys
import traceback

import flatbuffers
import flatbuffers.number_types as number_types
import zmq

DEFAULT_ENDPOINT = "tcp://127.0.0.1:5555"
SYSTEM_NAME = "psn python 0.1.0"
MAX_MESSAGE_BYTES = 256 << 20

# Kinds of messages, by their number in the wire's union.
HANDSHAKE, HANDSHAKE_RESULT, RUN, RUN_RESULT, SAMPLE, SAMPLE_RESULT = range(1, 7)
OBSERVE, OBSERVE_RESULT, TAG, TAG_RESULT, RESET = range(7, 12)


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


# ---- The wire ----------------------------------------------------------------------------------


def _flatten(value):
    """Numbers and shape of a float, a nested list or an array."""
    if hasattr(value, "shape") and hasattr(value, "ravel"):
        return [float(x) for x in value.ravel()], list(value.shape)
    if isinstance(value, (list, tuple)):
        parts = [_flatten(x) for x in value]
        if any(shape != parts[0][1] for _, shape in parts):
            raise ValueError("a ragged array")
        inner = parts[0][1] if parts else []
        return [x for numbers, _ in parts for x in numbers], [len(parts)] + inner
    return [float(value)], []


def _vector(builder, values, size, prepend):
    builder.StartVector(size, len(values), size)
    for x in reversed(values):
        prepend(x)
    return builder.EndVector()


def _table(builder, offsets, scalars=()):
    """A table of the given offsets (0: absent); `scalars` are (field, prepend, value, default)."""
    builder.StartObject(len(offsets))
    for field, offset in enumerate(offsets):
        if offset:
            builder.PrependUOffsetTRelativeSlot(field, offset, 0)
    for field, prepend, value, default in scalars:
        prepend(field, value, default)
    return builder.EndObject()


def _tensor(builder, value):
    if value is None:
        return 0
    numbers, shape = _flatten(value)
    data = _vector(builder, numbers, 8, builder.PrependFloat64)
    extents = _vector(builder, shape, 4, builder.PrependInt32)
    return _table(builder, [data, extents])


def _text(builder, text):
    return builder.CreateString(text) if text else 0


def _encode(kind, build=lambda builder: _table(builder, [])):
    builder = flatbuffers.Builder(256)
    body = build(builder)
    builder.StartObject(2)
    builder.PrependUint8Slot(0, kind, 0)
    builder.PrependUOffsetTRelativeSlot(1, body, 0)
    builder.Finish(builder.EndObject())
    return bytes(builder.Output())


def _request(builder, address, name, distribution, value=None, control=True):
    """Sample and Observe: address, name, distribution type, distribution, then control or value."""
    offsets = [_text(builder, address), _text(builder, name), 0, 0, _tensor(builder, value)]
    family = 0
    if distribution is not None:
        family = distribution.family
        offsets[3] = _table(builder, [_tensor(builder, p) for p in distribution.parameters])
    scalars = [(2, builder.PrependUint8Slot, family, 0)]
    if not control:
        scalars.append((4, builder.PrependBoolSlot, False, True))
    return _table(builder, offsets, scalars)


class _Table(flatbuffers.table.Table):
    """Reads fields of a table, by number. Bytes that make no sense raise some exception."""

    def place(self, field):
        offset = self.Offset(4 + 2 * field)
        return self.Pos + offset if offset else None

    def table(self, field):
        place = self.place(field)
        return None if place is None else _Table(self.Bytes, self.Indirect(place))

    def byte(self, field):
        place = self.place(field)
        return 0 if place is None else self.Get(number_types.Uint8Flags, place)

    def numbers(self, field, format, size):
        offset = self.Offset(4 + 2 * field)
        if not offset:
            return []
        count = self.VectorLen(offset)
        return list(struct.unpack_from("<%d%s" % (count, format), self.Bytes, self.Vector(offset)))


def _decode(message):
    """The kind of a message, and its body."""
    if not 8 <= len(message) <= MAX_MESSAGE_BYTES:
        raise ValueError("a message of %d bytes" % len(message))
    root = _Table(message, struct.unpack_from("<I", message, 0)[0])
    kind, body = root.byte(0), root.table(1)
    if body is None:
        raise ValueError("a message without a body")
    return kind, body


def _value(tensor):
    """A float, a nested list, or None for no data."""
    if tensor is None:
        return None
    numbers, shape = tensor.numbers(0, "d", 8), tensor.numbers(1, "i", 4)
    if not numbers:
        return None
    if math.prod(shape) != len(numbers):
        raise ValueError("a tensor of shape %s with %d numbers" % (shape, len(numbers)))
    if len(numbers) == 1 and len(shape) <= 1:
        return numbers[0]
    for extent in reversed(shape[1:]):
        numbers = [numbers[i:i + extent] for i in range(0, len(numbers), extent)]
    return numbers


# ---- The conversation --------------------------------------------------------------------------


class _OutOfStep(BaseException):
    """Ends a run from within: the engine sent something other than the answer to our request."""

    def __init__(self, message):
        self.message = message


class _Stop(BaseException):
    """Ends the service: a signal came."""


class _Server:
    def __init__(self, program, model_name, socket):
        self.program, self.model_name, self.socket = program, model_name, socket

    def ask(self, request, kind):
        """Sends a request and returns the body of the answer."""
        self.socket.send(request)
        message = self.socket.recv()
        try:
            got, body = _decode(message)
        except Exception:
            got, body = 0, None
        if got != kind:
            raise _OutOfStep(message)
        return body

    def serve(self):
        message = self.socket.recv()
        while True:
            try:
                message = self.reply(message)
            except _OutOfStep as surprise:
                message = surprise.message

    def reply(self, message):
        """Acts on a message outside of a run, or at the end of one; returns the next."""
        try:
            kind, _ = _decode(message)
        except Exception:
            kind = 0
        reply = _encode(RESET)
        if kind == HANDSHAKE:
            names = (SYSTEM_NAME, self.model_name)
            reply = _encode(HANDSHAKE_RESULT,
                            lambda b: _table(b, [_text(b, name) for name in names]))
        elif kind == RUN:
            try:
                result = self.program()
                reply = _encode(RUN_RESULT, lambda b: _table(b, [_tensor(b, result)]))
            except Exception:  # PPX has no word for it: the engine gets a Reset
                traceback.print_exc()
        self.socket.send(reply)
        return self.socket.recv()


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
    request = _encode(SAMPLE,
                      lambda b: _request(b, address, name, distribution, control=control))
    return _value(_server.ask(request, SAMPLE_RESULT).table(0))


def observe(distribution, value=None, name="", address=""):
    """States that a quantity is measurable. `value` is the program's own data; None: the engine has
    it, or draws it. Returns what was observed: NaN if neither program nor engine tells."""
    address = _address(address, name)
    request = _encode(OBSERVE, lambda b: _request(b, address, name, distribution, value))
    observed = _value(_server.ask(request, OBSERVE_RESULT).table(0))
    if observed is None:
        observed = value
    return math.nan if observed is None else observed


def tag(value, name="", address=""):
    """Records a derived quantity."""
    address = _address(address, name)
    _server.ask(_encode(TAG, lambda b: _table(b, [_text(b, address), _text(b, name),
                                                  _tensor(b, value)])), TAG_RESULT)


def serve(program, model_name, endpoint=DEFAULT_ENDPOINT):
    """Serves until SIGINT or SIGTERM; each run calls program()."""
    global _server

    def stop(number, frame):
        raise _Stop()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    context = zmq.Context()
    socket = context.socket(zmq.REP)
    socket.linger = 0
    socket.maxmsgsize = MAX_MESSAGE_BYTES
    socket.bind(endpoint)
    _server = _Server(program, model_name, socket)
    try:
        _server.serve()
    except _Stop:
        pass
    finally:
        _server = None
        socket.close()
        context.term()
