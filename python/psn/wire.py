"""Messages of PPX as bytes: what psn.ppx sends and takes (docs/formats/ppx.md)."""

import math
import struct

import flatbuffers
import flatbuffers.number_types as number_types

MAX_MESSAGE_BYTES = 256 << 20

# Kinds of messages, by their number in the wire's union.
HANDSHAKE, HANDSHAKE_RESULT, RUN, RUN_RESULT, SAMPLE, SAMPLE_RESULT = range(1, 7)
OBSERVE, OBSERVE_RESULT, TAG, TAG_RESULT, RESET = range(7, 12)


def flatten(value):
    """Numbers and shape of a float, a nested list or an array."""
    if hasattr(value, "shape") and hasattr(value, "ravel"):
        return [float(x) for x in value.ravel()], list(value.shape)
    if isinstance(value, (list, tuple)):
        parts = [flatten(x) for x in value]
        if any(shape != parts[0][1] for _, shape in parts):
            raise ValueError("a ragged array")
        inner = parts[0][1] if parts else []
        return [x for numbers, _ in parts for x in numbers], [len(parts)] + inner
    return [float(value)], []


def vector(builder, values, size, prepend):
    builder.StartVector(size, len(values), size)
    for x in reversed(values):
        prepend(x)
    return builder.EndVector()


def table(builder, offsets, scalars=()):
    """A table of the given offsets (0: absent); `scalars` are (field, prepend, value, default)."""
    builder.StartObject(len(offsets))
    for field, offset in enumerate(offsets):
        if offset:
            builder.PrependUOffsetTRelativeSlot(field, offset, 0)
    for field, prepend, value, default in scalars:
        prepend(field, value, default)
    return builder.EndObject()


def tensor(builder, value):
    if value is None:
        return 0
    numbers, shape = flatten(value)
    data = vector(builder, numbers, 8, builder.PrependFloat64)
    extents = vector(builder, shape, 4, builder.PrependInt32)
    return table(builder, [data, extents])


def text(builder, string):
    return builder.CreateString(string)  # also if it is empty: PyProb cannot do without


def encode(kind, build=lambda builder: table(builder, [])):
    builder = flatbuffers.Builder(256)
    body = build(builder)
    builder.StartObject(2)
    builder.PrependUint8Slot(0, kind, 0)
    builder.PrependUOffsetTRelativeSlot(1, body, 0)
    builder.Finish(builder.EndObject())
    return bytes(builder.Output())


def request(builder, address, name, distribution, value=None, control=True):
    """Sample and Observe: address, name, distribution type, distribution, then control or value."""
    offsets = [text(builder, address), text(builder, name), 0, 0, tensor(builder, value)]
    family = 0
    if distribution is not None:
        family = distribution.family
        offsets[3] = table(builder, [tensor(builder, p) for p in distribution.parameters])
    scalars = [(2, builder.PrependUint8Slot, family, 0)]
    if not control:
        scalars.append((4, builder.PrependBoolSlot, False, True))
    return table(builder, offsets, scalars)


class Table(flatbuffers.table.Table):
    """Reads fields of a table, by number. Bytes that make no sense raise some exception."""

    def place(self, field):
        offset = self.Offset(4 + 2 * field)
        return self.Pos + offset if offset else None

    def table(self, field):
        place = self.place(field)
        return None if place is None else Table(self.Bytes, self.Indirect(place))

    def byte(self, field):
        place = self.place(field)
        return 0 if place is None else self.Get(number_types.Uint8Flags, place)

    def numbers(self, field, format, size):
        offset = self.Offset(4 + 2 * field)
        if not offset:
            return []
        count = self.VectorLen(offset)
        return list(struct.unpack_from("<%d%s" % (count, format), self.Bytes, self.Vector(offset)))


def decode(message):
    """The kind of a message, and its body."""
    if not 8 <= len(message) <= MAX_MESSAGE_BYTES:
        raise ValueError("a message of %d bytes" % len(message))
    root = Table(message, struct.unpack_from("<I", message, 0)[0])
    kind, body = root.byte(0), root.table(1)
    if body is None:
        raise ValueError("a message without a body")
    return kind, body


def kind(message):
    """Of a message; 0 if it is none."""
    try:
        return decode(message)[0]
    except Exception:
        return 0


def value(tensor):
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
