"""What the tests of the command line share: running the built program, scenarios small enough for a test, checks.

A test is a script of functions named test_*; main() runs them all and says which failed. Environment: SHARDLAB (the program),
SHARDLAB_SOURCE (the source tree), SHARDLAB_BUILD (the build folder), SHARDLAB_PYTHON (Python with torch; empty when built without libtorch).
"""

import fcntl
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

PROGRAM = os.environ["SHARDLAB"]
SOURCE = pathlib.Path(os.environ["SHARDLAB_SOURCE"])
WITH_TORCH = bool(os.environ.get("SHARDLAB_PYTHON"))
SKIP = 77

TINY = """name: {name}
model:
  config: tiny-llama
  sequence_length: 32
  overrides: {{hidden_size: 64, intermediate_size: 96, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2}}
cluster: {{device: cpu, ranks: {ranks}}}
parallel: {{strategy: {strategy}}}
train: {{micro_batch: 2, learning_rate: 1e-3, clip_norm: 1.0, data: assets/data/licenses.txt}}
measure: {{warmup_steps: 1, steps: {steps}}}
"""


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"exit code {self.code}\nstdout: {self.out[-2000:]}\nstderr: {self.err[-2000:]}"


class Place:
    """A folder of its own with a database in it; everything a test writes goes here."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="shardlab-cli-")
        self.path = pathlib.Path(self._folder.name)
        self.db = self.path / "runs.db"

    def scenario(self, name="tiny", ranks=2, strategy="fsdp2", steps=3, extra="", text=None):
        file = self.path / f"{name}.yaml"
        file.write_text((text or TINY.format(name=name, ranks=ranks, strategy=strategy, steps=steps)) + extra)
        return str(file)

    def take_calibration(self):
        """Puts this machine's calibration for two ranks into the database. It is measured once for all tests of a build: those that are
        not about measuring it need not wait half a minute each."""
        shared = calibration_file()
        shared.parent.mkdir(parents=True, exist_ok=True)
        with open(shared.with_suffix(".lock"), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not shared.exists():
                expect(self.run("calibrate", "--ranks", "2", timeout=300), 0)
                part = shared.with_suffix(".part")
                shutil.copy(self.db, part)
                part.rename(shared)
        shutil.copy(shared, self.db)

    def environment(self, **changes):
        """Tables are cut as in a terminal of 80 columns, whichever the tests are started from."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "OMPI_")) and k not in
                       ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")}
        environment.update(SHARDLAB_DB=str(self.db), HOME=str(self.path), XDG_DATA_HOME=str(self.path / "data"), COLUMNS="80")
        environment.update(changes)
        return environment

    def run(self, *arguments, timeout=120, env=None, largest_file=None, most_memory=None, stdout=subprocess.PIPE):
        """Runs the program to its end. largest_file: bytes, as if the disk were full beyond them; most_memory: bytes of addresses."""
        def limit():
            if most_memory is not None:
                resource.setrlimit(resource.RLIMIT_AS, (most_memory, most_memory))
            if largest_file is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
        begin = time.monotonic()
        done = subprocess.run([PROGRAM, *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              text=True, timeout=timeout, env=env or self.environment(), cwd=self.path, preexec_fn=limit)
        return Result(done.returncode, done.stdout or "", done.stderr, time.monotonic() - begin)

    def start(self, *arguments, env=None):
        return subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, text=True, env=env or self.environment(), cwd=self.path)


def calibration_file():
    """Another program or processor has another."""
    program, processor = os.stat(PROGRAM), open("/proc/cpuinfo", encoding="utf-8").read().split("\n\n")[0]
    told = f"{program.st_size} {program.st_mtime_ns} {[line for line in processor.splitlines() if line.startswith('model')]}"
    name = hashlib.sha256(told.encode()).hexdigest()[:16]
    return pathlib.Path(os.environ["SHARDLAB_BUILD"]) / "tests/calibrations" / f"{name}.db"


def check(condition, message, result=None):
    if not condition:
        raise AssertionError(f"{message}\n{result if result is not None else ''}")


def expect(result, code):
    check(result.code == code, f"expected exit code {code}", result)
    return result


def expect_error(result, code, *parts):
    """One error message on stderr with all the parts, nothing that looks like a crash, nothing on stdout."""
    expect(result, code)
    check(result.err.startswith("error: "), "the message does not start with 'error: '", result)
    for part in parts:
        check(part in result.err, f"the message does not contain '{part}'", result)
    for sign in ("terminate called", "Aborted", "Segmentation", "std::", "exception", "Traceback"):
        check(sign not in result.err, f"the message shows '{sign}'", result)
    check(result.out == "", "an error leaves stdout empty", result)
    return result


TYPES = {"int": int, "number": (int, float), "text": str, "bool": bool, "list": list, "map": dict, "null": type(None)}


def has_type(value, kind):
    if kind.endswith("?"):
        return value is None or has_type(value, kind[:-1])
    if isinstance(value, bool):
        return kind == "bool"
    return isinstance(value, TYPES[kind])


def check_fields(value, fields, where="document"):
    """fields: name -> type as in TYPES, with ? for "or null"."""
    check(isinstance(value, dict), f"{where} is no map")
    for name, kind in fields.items():
        check(name in value, f"{where}.{name} is missing")
        check(has_type(value[name], kind), f"{where}.{name} is {value[name]!r}, not {kind}")


def documented_figures():
    """docs/json.md's table of a run: what the figures are in -> name -> type; the run's own are in ""."""
    figures = {}
    table = (SOURCE / "docs/json.md").read_text().split("<!-- shardlab show --document -->")[1].split("<!-- end -->")[0]
    for path, kind in re.findall(r"^\| `([^`]+)` \| (\S+) \|", table, re.MULTILINE):
        above, _, name = path.rpartition(".")
        figures.setdefault(above, {})[name] = kind
    return figures


FIGURES = documented_figures()


def check_run(document, kind, stored=True):
    """A run as docs/json.md describes it."""
    check_fields(document, {"run_id": "text?", **FIGURES[""]})
    check(document["kind"] == kind, f"kind is {document['kind']}")
    check((document["run_id"] is not None) == stored, f"run_id is {document['run_id']}")
    check_fields(document["step_time_ns"], FIGURES["step_time_ns"], "step_time_ns")
    for entry in document["communication"]:
        check_fields(entry, FIGURES["communication[]"], "communication")
        check(entry["counted"] == (entry["sent"] if kind == "measured" else None), f"sent and counted differ: {entry}")
    check_fields(document["memory"], FIGURES["memory"], "memory")
    by_class = document["memory"]["by_class"]
    check(sum(by_class.values()) == document["memory"]["peak_allocated"], f"by_class does not add up to the peak: {by_class}")


def needs_torch():
    if not WITH_TORCH:
        print("skipped: built without libtorch")
        sys.exit(SKIP)


def main(functions):
    """Runs the test_* functions of a script's globals(); a failure of one does not hide the others."""
    failed = 0
    for name, function in list(functions.items()):
        if not name.startswith("test_"):
            continue
        try:
            function()
            print(f"good    {name}")
        except Exception:  # an assertion, a timeout, a missing field: all are failures of this test
            failed += 1
            print(f"FAILED  {name}")
            traceback.print_exc(limit=-2, file=sys.stdout)
    sys.exit(1 if failed else 0)
