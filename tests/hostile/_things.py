"""Things that are no such file: what somebody may hand over in the place of a scenario, a trace, a log or a database."""

import gzip
import os
import random
import zlib

CONTROLS = b"\x1b]0;owned\x07\x1b[2J\xc2\x9b2J\x7f\xff\xe2\x82 caf\xe9: \x1b[31m\r\n" * 200
FORMATS = ("yaml", "json", "text", "packed", "pickle", "database")  # what a reader may have to understand


def sparse(path, size, beginning=b""):
    """A file of that size without blocks behind it, but for how it begins."""
    path.write_bytes(beginning)
    os.truncate(path, size)
    return path


def members(count):
    return b"{" + b",".join(b'"k%d":0' % i for i in range(count)) + b"}"


def packed_zeros():
    """Twelve gigabytes in thirteen megabytes: one packed piece, many times."""
    return gzip.compress(bytes(64 << 20), 9) * 200


def aliases():
    """A list of ten lists of ten lists ..., of a gigabyte of values."""
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    return "\n".join(lines).encode()


def long_aliases():
    """The same long text over and over again, in 190 kilobytes."""
    return b"a: &a " + b"x" * 10_000 + b"\nb: [" + b"*a," * 59_000 + b"*a]\n"


# name -> (what a reader must understand to get far in it; all: nothing, how it is made at a path)
THINGS = {
    "a pipe": ("all", lambda path: os.mkfifo(path) or path),
    "a device": ("all", lambda path: "/dev/zero"),
    "memory of the process": ("all", lambda path: "/proc/self/mem"),
    "a folder": ("all", lambda path: path.mkdir() or path),
    "nothing": ("all", lambda path: path),
    "a link to itself": ("all", lambda path: path.symlink_to(path) or path),
    "an empty file": ("all", lambda path: path.write_bytes(b"") and path or path),
    "a terabyte of nothing": ("all", lambda path: sparse(path, 1 << 40)),
    "zeros": ("all", lambda path: sparse(path, 200 << 20)),
    "noise": ("all", lambda path: path.write_bytes(random.Random(1).randbytes(1 << 20)) and path),
    "control characters": ("all", lambda path: path.write_bytes(CONTROLS) and path),
    "one long line": ("all", lambda path: path.write_bytes(b"x" * (40 << 20)) and path),
    "yaml: aliases": ("yaml", lambda path: path.write_bytes(aliases()) and path),
    "yaml: long aliases": ("yaml", lambda path: path.write_bytes(long_aliases()) and path),
    "yaml: deep": ("yaml", lambda path: path.write_bytes(b"a: " + b"[" * 100_000) and path),
    "yaml: deep maps": ("yaml", lambda path: path.write_bytes(b"{a: " * 50_000) and path),
    "yaml: deep lists": ("yaml", lambda path: path.write_bytes(b"- " * 100_000 + b"a\n") and path),
    "yaml: keys": ("yaml", lambda path: path.write_bytes(b"".join(b"k%d: 1\n" % i for i in range(20_000))) and path),
    "yaml: control characters": ("yaml", lambda path: path.write_bytes(b'"\\e]0;owned\\a\\x9b2J": {"\\e[2J": "\\e[31m\\x7f"}\n') and path),
    "json: deep": ("json", lambda path: path.write_bytes(b'{"a":' + b"[" * 1_000_000) and path),
    "json: deep to its end": ("json", lambda path: path.write_bytes(b'{"ops":' + b"[" * 200_000 + b"]" * 200_000 + b"}") and path),
    "json: many lists": ("json", lambda path: path.write_bytes(b'{"ops":[' + b"[]," * (20 << 20) + b"0]}") and path),
    "json: many members": ("json", lambda path: path.write_bytes(members(700_000)) and path),
    "json: large numbers": ("json", lambda path: path.write_bytes(b'{"ops":[["m","a",1e999],["m","b",-9223372036854775809]],"traceEvents":[{"ph":"X",'
                                                                  b'"ts":1e308,"dur":-1e308,"pid":9e99,"name":"\\u001b[2J"}]}') and path),
    "json: control characters": ("json", lambda path: path.write_bytes(b'{"model_type":"\\u001b]0;owned\\u0007","\\u001b[2J":"\\u009b2J\\u007f"}') and path),
    "json: cut off": ("json", lambda path: sparse(path, 3 << 30, b'{"ops":[["m","a",1],')),
    "packed: zeros": ("packed", lambda path: path.write_bytes(packed_zeros()) and path),
    "packed: cut off": ("packed", lambda path: path.write_bytes(gzip.compress(b'{"traceEvents":[]}')[:-9]) and path),
    "packed: damaged": ("packed", lambda path: path.write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + zlib.compress(b"x" * 999)[2:40] + b"\xff" * 99) and path),
    "pickle: zeros": ("pickle", lambda path: sparse(path, 4 << 30, b"\x80\x04")),
    "pickle: many lists": ("pickle", lambda path: path.write_bytes(b"\x80\x04" + b"]" * (60 << 20)) and path),
    "pickle: a length": ("pickle", lambda path: path.write_bytes(b"\x80\x04\x8e" + b"\xff" * 8 + b"x") and path),
    "pickle: a call": ("pickle", lambda path: path.write_bytes(b"cos\nsystem\n(S'true'\ntR.") and path),
    "database: noise": ("database", lambda path: path.write_bytes(b"SQLite format 3\0" + random.Random(2).randbytes(1 << 16)) and path),
    "database: huge": ("database", lambda path: sparse(path, 1 << 40, b"SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20")),
}


def make_things(folder):
    """name -> (format, path): each once, for all readers."""
    made = {}
    for number, (name, (form, make)) in enumerate(THINGS.items()):
        made[name] = (form, os.fspath(make(folder / f"thing-{number}")))
    return made
