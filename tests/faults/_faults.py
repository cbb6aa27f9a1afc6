"""Commands of which one call of the C library fails: what they may do then, and what they may not.

A command is run once undisturbed, which counts its calls by name. Then it is run again from the same start for each of these calls, which
fails. Allowed is an end with a documented code and a message within the time limit, with every file as it was before or as the undisturbed
command leaves it, and the stored runs sound and complete. An end with code 0 has to be the undisturbed one.
"""

import concurrent.futures
import errno
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "cli"))
from _shardlab import PROGRAM, Place, check  # noqa: E402

LIBRARY = pathlib.Path(os.environ["SHARDLAB_BUILD"]) / "tests/faults/libshardlab_fail_at.so"
CALLS = tuple(re.findall(r'"(\w+)"', (pathlib.Path(__file__).parent / "fail_at.h").read_text().split("k_calls{")[1].split("}")[0]))
LIMIT = 30  # seconds
NIGHTLY = bool(os.environ.get("SHARDLAB_NIGHTLY"))

# What a call says when it fails; the first is tried everywhere.
FAILURES = {
    "open": (errno.EMFILE, errno.EACCES), "fopen": (errno.EMFILE,), "read": (errno.EIO,), "pread": (errno.EIO,), "readv": (errno.EIO,),
    "write": (errno.ENOSPC,), "pwrite": (errno.ENOSPC,), "writev": (errno.ENOSPC,), "fsync": (errno.EIO,), "fdatasync": (errno.EIO,),
    "truncate": (errno.EIO,), "rename": (errno.EIO,), "unlink": (errno.EACCES,), "mkdir": (errno.ENOSPC,), "rmdir": (errno.EACCES,),
    "close": (errno.EIO,), "lseek": (errno.EIO,), "stat": (errno.EIO,), "access": (errno.EACCES,), "mmap": (errno.ENOMEM,),
    "fcntl": (errno.EIO,), "flock": (errno.EIO,), "opendir": (errno.EMFILE,), "readdir": (errno.EIO,), "chmod": (errno.EPERM,),
    "link": (errno.EPERM,), "readlink": (errno.EIO,), "realpath": (errno.EACCES,), "getcwd": (errno.ENOENT,), "mkdtemp": (errno.ENOSPC,),
    "mkstemp": (errno.EMFILE,), "fallocate": (errno.ENOSPC,), "dup": (errno.EMFILE,), "socket": (errno.EMFILE,),
    "setsockopt": (errno.EINVAL,), "bind": (errno.EADDRINUSE,), "listen": (errno.EADDRINUSE,), "accept": (errno.ECONNABORTED,),
    "connect": (errno.ECONNREFUSED,), "send": (errno.ECONNRESET,), "sendmsg": (errno.ECONNRESET,), "recv": (errno.ECONNRESET,),
    "poll": (errno.ENOMEM,), "getaddrinfo": (errno.EAGAIN,), "getsockname": (errno.ENOBUFS,), "socketpair": (errno.EMFILE,),
    "pipe": (errno.EMFILE,), "fork": (errno.EAGAIN,), "execve": (errno.ENOENT,), "posix_spawn": (errno.EAGAIN,),
    "waitpid": (errno.EINTR,), "kill": (errno.EPERM,), "pthread_create": (errno.EAGAIN,), "clock_gettime": (0,), "new": (errno.ENOMEM,),
}
# What is no failure at all: it has to end as if nothing had been.
INTERRUPTIONS = {"read": ("short", errno.EINTR), "write": ("short", errno.EINTR), "pread": ("short", errno.EINTR),
                 "pwrite": ("short", errno.EINTR), "send": ("short", errno.EINTR), "recv": ("short", errno.EINTR),
                 "poll": (errno.EINTR,), "accept": (errno.EINTR,), "waitpid": (errno.EINTR,), "open": (errno.EINTR,)}


class Fault:
    def __init__(self, call, at, how):
        self.call, self.at, self.how = call, at, str(how)

    def takes_the_terminal(self):
        """Then the message has nowhere to go either."""
        return self.call == "write" and "onwards" in self.how

    def __str__(self):
        how = self.how.split()
        if how[0].isdigit():
            how[0] = errno.errorcode.get(int(how[0]), how[0])
        return f"{self.call} {self.at} ({' '.join(how)})"


class Command:
    """prepare(place): makes what the command starts from and returns its arguments. stores: it adds one run to the database. without: interruptions
    that are left aside, as (call, how)."""

    def __init__(self, name, prepare, stores=False, program=None, rank=None, limit=LIMIT, without=()):
        self.name, self.stores, self.limit, self.without = name, stores, limit, without
        self.program, self.rank = program or os.path.basename(PROGRAM), rank
        self.place = Place()
        self.arguments = [str(argument) for argument in prepare(self.place)]
        self.before = files_in(self.place.path)
        self.runs_before = stored_runs(self.place.db)


class Outcome:
    def __init__(self, code, out, err, seconds, files, runs, counts, fired):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds
        self.files, self.runs, self.counts, self.fired = files, runs, counts, fired
        self.before = None


def files_in(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith((".db", ".db-wal", ".db-shm", ".db-journal")) and path.name != "counts":
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def stored_runs(database):
    """Ids of the runs of a sound database; None without one."""
    if not database.exists() or database.stat().st_size == 0:
        return None
    connection = sqlite3.connect(database)
    try:
        sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
        check(sound == "ok", f"the database is damaged: {sound}")
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        return [row[0] for row in connection.execute("SELECT id FROM runs")] if "runs" in tables else None
    finally:
        connection.close()


def execute(command, fault=None, again=False):
    """From the command's start, in a folder of its own, where the paths in its arguments lead. again: once more there, undisturbed; then
    the first outcome is the second's `before`."""
    with tempfile.TemporaryDirectory(prefix="shardlab-faults-") as name:
        folder = pathlib.Path(name)
        shutil.copytree(command.place.path, folder, dirs_exist_ok=True)
        outcome = start(command, folder, fault)
        if not again:
            return outcome
        second = start(command, folder, None)
        second.before = outcome
        return second


def order(counts, fault, program, rank=None):
    """The variables that load the library and order the fault; `counts` is the file for its numbers."""
    counts.write_bytes(bytes(8 * (len(CALLS) + 1)))
    variables = {"LD_PRELOAD": str(LIBRARY), "SHARDLAB_FAULT_PROGRAM": program, "SHARDLAB_FAULT_COUNTS": str(counts)}
    if rank is not None:
        variables["SHARDLAB_FAULT_RANK"] = str(rank)
    if fault is not None:
        variables.update(SHARDLAB_FAULT_CALL=fault.call, SHARDLAB_FAULT_AT=str(fault.at), SHARDLAB_FAULT_HOW=fault.how)
    return variables


def start(command, folder, fault):
    name = str(folder)
    counts = folder / "counts"
    environment = command.place.environment(SHARDLAB_DB=str(folder / "runs.db"), HOME=name, XDG_DATA_HOME=str(folder / "data"), TMPDIR=name,
                                            **order(counts, fault, command.program, command.rank))
    arguments = [argument.replace(str(command.place.path), name) for argument in command.arguments]
    begin = time.monotonic()
    process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                               text=True, errors="replace", env=environment, cwd=folder, start_new_session=True)
    try:
        out, err = process.communicate(timeout=command.limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise AssertionError(f"no end within {command.limit} s") from None
    seconds = time.monotonic() - begin
    numbers = struct.unpack(f"{len(CALLS) + 1}Q", counts.read_bytes())
    files = {path: content.replace(name.encode(), b"PLACE") for path, content in files_in(folder).items()}
    return Outcome(process.returncode, out.replace(name, "PLACE"), err.replace(name, "PLACE"), seconds, files,
                   stored_runs(folder / "runs.db"), dict(zip(CALLS, numbers)), numbers[-1])


class Undisturbed:
    """What the command does when nothing fails: twice, to know what differs from time to time."""

    def __init__(self, command):
        first, second = execute(command), execute(command)
        check(first.code in (0, 1), f"{command.name} does not work: {first.code}\n{first.err}{first.out}")
        self.code, self.files, self.counts = first.code, first.files, first.counts
        self.out = first.out if first.out == second.out else None
        self.changing = {path for path in first.files if first.files[path] != second.files.get(path)}
        if command.stores:
            check(len(first.runs or []) == len(command.runs_before or []) + 1, f"{command.name} stores no run")


WRONG_WORDS = ("terminate called", "Segmentation", "std::", "basic_", "Traceback", "defect of shardlab")


def judge(command, undisturbed, outcome, fault, as_if_nothing=False, codes=(0, 1, 2, 3, 4), may_leave=False):
    """Raises AssertionError where the outcome is none of those that are allowed."""
    if fault.call == "new" and outcome.code == -signal.SIGABRT:
        codes = (*codes, outcome.code)  # a destructor of the JSON library allocates
    told = f"code {outcome.code}, {outcome.seconds:.1f} s, stderr: {outcome.err[-600:]!r}"
    check(outcome.code in codes, f"not a documented end: {told}")
    for word in WRONG_WORDS if outcome.code >= 0 else ():
        check(word not in outcome.err, f"the message shows '{word}': {told}")
    lost = set(command.runs_before or []) - set(outcome.runs or [])
    check(not lost, f"stored runs are gone: {told}")
    before = {path: content.replace(str(command.place.path).encode(), b"PLACE") for path, content in command.before.items()}
    for path, content in outcome.files.items():
        known = path in before or path in undisturbed.files
        kept = path.startswith("shardlab-run-")  # private, in the folder of temporary files; the message names it
        check(known or may_leave or kept, f"{path} is left behind: {told}")
        whole = not known or content in (before.get(path), undisturbed.files.get(path)) or path in undisturbed.changing
        check(whole, f"{path} is neither as before nor as it should be ({len(content)} bytes): {told}")
    check(all(path in outcome.files for path in before if path in undisturbed.files), f"a file is gone: {told}")
    if outcome.code == undisturbed.code:
        for path, content in undisturbed.files.items():
            check(path in undisturbed.changing or outcome.files.get(path) == content, f"{path} was not written: {told}")
        if command.stores:
            check(len(outcome.runs or []) == len(command.runs_before or []) + 1, f"the run was lost in silence: {told}")
        check(undisturbed.out in (None, outcome.out) or "warning" in outcome.err, f"another answer, and nothing said: {told}\n{outcome.out}")
    else:
        check(not as_if_nothing, f"what is no failure made it fail: {told}")
        told_why = "error: " in outcome.err or fault.takes_the_terminal() or outcome.code < 0
        check(told_why, f"no message: {told}")


def some(count, most):
    """Numbers from 1 to count: all where they are few, else the first and then evenly."""
    if count <= most:
        return list(range(1, count + 1))
    first = most // 2
    rest = most - first
    if most == 1:
        return [(count + 1) // 2]
    return list(range(1, first + 1)) + sorted({first + 1 + i * (count - first - 1) // max(rest - 1, 1) for i in range(rest)})


def in_parallel(work, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(work, items))


def attack(command, faults, say=print, **allowed):
    """Runs the command once for every fault; returns what went wrong."""
    undisturbed = Undisturbed(command)
    planned = [each for each in faults(undisturbed.counts) if (each[0].call, each[0].how) not in command.without]

    def one(fault_and_kind):
        fault, as_if_nothing = fault_and_kind
        try:
            outcome = execute(command, fault)
            if outcome.fired:
                judge(command, undisturbed, outcome, fault, as_if_nothing, **allowed)
            return fault, bool(outcome.fired), None
        except AssertionError as wrong:
            return fault, True, str(wrong).strip()

    results = in_parallel(one, planned)
    wrong = [(fault, message) for fault, _, message in results if message]
    by_call = {}
    for fault, fired, _ in results:
        by_call[fault.call] = by_call.get(fault.call, 0) + fired
    figures = " ".join(f"{call} {count}" for call, count in by_call.items() if count)
    say(f"{command.name}: {sum(by_call.values())} faults, {len(wrong)} ended wrongly ({figures})")
    for message, faults in alike(wrong).items():
        say(f"    {message}\n        {len(faults)} times: {', '.join(map(str, faults[:6]))}")
    return wrong


def alike(wrong):
    """Faults by what they led to, numbers aside."""
    groups = {}
    for fault, message in wrong:
        kind = re.sub(r"\d+", "N", message.splitlines()[0])
        groups.setdefault(kind, []).append(fault)
    return {f"{kind[:500]}": faults for kind, faults in groups.items()}


def each_call(most, calls=None, strict=True):
    """Every call fails once, for at most `most` calls of a name; interruptions likewise. strict: they have to change nothing."""
    def faults(counts):
        for call, count in counts.items():
            if calls is not None and call not in calls:
                continue
            for failure in FAILURES[call]:
                for at in some(count, most):
                    yield Fault(call, at, failure), False
            for interruption in INTERRUPTIONS.get(call, ()):
                for at in some(count, max(most // 2, 1)):
                    yield Fault(call, at, interruption), strict
    return faults


def onwards(most, calls=("write", "pwrite", "writev")):
    """A disk that is full from some call on."""
    def faults(counts):
        for call in calls:
            for at in some(counts[call], most):
                yield Fault(call, at, f"{errno.ENOSPC} onwards"), False
    return faults
