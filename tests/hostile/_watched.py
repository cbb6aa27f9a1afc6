"""A command under watch: what it printed as bytes, how long it took and how much memory it had; one that hangs is ended and told."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
from _shardlab import PROGRAM, Place, check, expect  # noqa: E402

SANITIZED = bool(os.environ.get("SHARDLAB_SANITIZE"))
LONGEST = 180 if SANITIZED else 30  # seconds, on a machine with other work: what takes longer hangs
MOST_MEMORY = None if SANITIZED else 1 << 30  # of a process; sanitizers keep several times as much
MOST_SAID = 1 << 16  # bytes of a message
WRONG_WORDS = ("terminate called", "Aborted", "Segmentation", "std::", "basic_", "nlohmann", "Traceback", "defect of shardlab")


class Watched:
    def __init__(self, arguments, code, out, err, seconds, usage):
        self.arguments, self.code, self.out, self.err = arguments, code, out, err
        self.seconds = seconds
        self.processor_seconds = usage.ru_utime + usage.ru_stime if usage else 0
        self.memory = usage.ru_maxrss << 10 if usage else 0  # bytes, the most at one time

    def __str__(self):
        return f"{' '.join(self.arguments)}\nexit code {self.code}\nstdout: {self.out[-1000:]!r}\nstderr: {self.err[-2000:]!r}"


def wait_for(process):
    """Status and usage of its end, or None for one that hung and was killed."""
    until = time.monotonic() + LONGEST
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid != 0:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage
        if time.monotonic() > until:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
        time.sleep(0.005)


def watch(place, *arguments, stdin=subprocess.DEVNULL, env=None):
    words = [os.fsdecode(argument) for argument in arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        process = subprocess.Popen([PROGRAM, *arguments], stdin=stdin, stdout=out, stderr=err, env=env or place.environment(), cwd=place.path,
                                   start_new_session=True)
        usage = wait_for(process)
        seconds = time.monotonic() - begin
        out.seek(0), err.seek(0)
        watched = Watched(words, process.returncode, out.read(), err.read(), seconds, usage)
    check(usage is not None, f"no end within {LONGEST} s", watched)
    return watched


def raw_controls(text):
    """What a terminal would obey, or could not show: control characters but for line feeds and tabs, and bytes that are no UTF-8."""
    try:
        characters = text.decode("utf-8")
    except UnicodeDecodeError as error:
        return [f"no UTF-8 at byte {error.start}: {text[error.start:error.start + 8]!r}"]
    return sorted({repr(c) for c in characters if (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0})


def check_shown(watched):
    """Nothing that was printed reaches the terminal as a command."""
    for name, text in (("stdout", watched.out), ("stderr", watched.err)):
        check(not raw_controls(text), f"{name} has {raw_controls(text)}", watched)


def check_refused(watched, *parts, codes=(2,), says=True):
    """A documented end with a message that says so, in bounded memory. says: whether it must say something."""
    check(watched.code in codes, f"the exit code is none of {codes}", watched)
    check(not says or watched.code == 1 or b"error: " in watched.err, "no message", watched)
    check_shown(watched)
    check(len(watched.err) <= MOST_SAID, f"{len(watched.err)} bytes are no message", watched)
    said = watched.err.decode()
    for word in WRONG_WORDS:
        check(word not in said, f"the message shows '{word}'", watched)
    for part in parts:
        check(part in said, f"the message does not contain '{part}'", watched)
    check(MOST_MEMORY is None or watched.memory < MOST_MEMORY, f"{watched.memory >> 20} MiB of memory", watched)
    return watched


def job_of(place, scenario):
    """A kept run's job, as a launcher writes it."""
    version = expect(place.run("version", "--json"), 0).json()["version"]
    hashes = expect(place.run("plan", scenario, "--json"), 0).json()
    text = expect(place.run("scenario", scenario, "--write"), 0).out
    return json.dumps({"version": version, "kind": "train", "directory": str(place.path), "run_hash": hashes["run_hash"], "threads": 1,
                       "environment": {}, "probes": {"budget_ms": 30000, "cases": []}, "scenario": text, "swap_run": "",
                       "extras": {"save_weights": "", "save_load": "", "memory_snapshot": "", "poison": False, "jitter": 0}})


def kept_run(place, name="kept"):
    """The folder of a run of two ranks that wrote no spools."""
    folder = place.path / name
    folder.mkdir()
    (folder / "job.json").write_text(job_of(place, place.scenario(f"scenario-of-{name}")))
    return folder


def pipe(place, name):
    """A pipe that nobody writes to: whoever opens it without care waits for ever."""
    os.mkfifo(place.path / name)
    return str(place.path / name)


__all__ = ["LONGEST", "MOST_MEMORY", "Place", "check", "check_refused", "check_shown", "kept_run", "pipe", "raw_controls", "watch"]
