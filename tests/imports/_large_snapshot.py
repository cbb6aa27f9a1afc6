"""Writes a large memory snapshot as torch.cuda.memory._dump_snapshot() would: `_large_snapshot.py FILE MEGABYTES [SEED]`.

The pickle is written opcode by opcode, and so needs little memory: names are in the memo, where Python's pickler puts them, and every event
is a dictionary of its own.
"""

import random
import struct
import sys

NAMES = ("action", "addr", "size", "stream", "time_us", "alloc", "free_requested", "free_completed", "segment_alloc")
GET = {name: b"h" + bytes([place]) for place, name in enumerate(NAMES)}  # BINGET


def text(value):
    return b"\x8c" + bytes([len(value)]) + value.encode()  # SHORT_BINUNICODE


def number(value):
    return b"J" + struct.pack("<i", value) if value < 1 << 31 else b"\x8a\x08" + struct.pack("<q", value)  # BININT, LONG1


def event(action, address, size, time):
    return b"".join((b"}\x94(", GET["action"], GET[action], GET["addr"], number(address), GET["size"], number(size), GET["stream"], b"K\x00",
                     GET["time_us"], number(time), b"u"))


def events(draw, live):
    """Allocations and frees without end, of a program that holds some hundred blocks; keeps `live` up to date."""
    place, time = 1 << 44, 1_700_000_000_000_000
    while True:
        time += draw.randrange(1, 50)
        if len(live) < 200 or (len(live) < 400 and draw.random() < 0.5):
            size = draw.randrange(512, 1 << 24)
            place += 1 << 24
            live[place] = size
            yield event("alloc", place, size, time), size
        else:
            address = draw.choice(list(live)) if draw.random() < 0.01 else next(iter(live))
            size = live.pop(address)
            yield event("free_requested", address, size, time) + event("free_completed", address, size, time), -size


def write(path, megabytes, seed=1):
    """Returns the highest sum of the sizes that are allocated at once."""
    live, in_use, highest, written = {}, 0, 0, 0
    with open(path, "wb") as file:
        file.write(b"\x80\x04" + b"".join(text(name) + b"\x940" for name in NAMES))  # MEMOIZE, POP
        file.write(b"}(" + text("segments") + b"]" + text("device_traces") + b"](](")
        for piece, change in events(random.Random(seed), live):
            in_use += change
            highest = max(highest, in_use)
            written += file.write(piece)
            if written >= megabytes << 20:
                break
        # What lives on has been freed at the end: then no segment need hold it.
        for address, size in live.items():
            file.write(event("free_requested", address, size, 1_800_000_000_000_000))
            file.write(event("free_completed", address, size, 1_800_000_000_000_000))
        file.write(b"eeu.")
    return highest


if __name__ == "__main__":
    print(write(sys.argv[1], int(sys.argv[2]), *map(int, sys.argv[3:])))
