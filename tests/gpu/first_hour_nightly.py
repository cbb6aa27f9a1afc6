"""The four turns of first_hour.sh rehearsed with a processor as the device: what hangs, crashes or runs out of memory takes nothing from the
other steps, and whoever kills a turn half-way keeps what was finished. Prints how long each takes and what the portable folder weighs.
"""
# processors: 2
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

SOURCE, BUILD = pathlib.Path(os.environ["SHARDLAB_SOURCE"]), pathlib.Path(os.environ["SHARDLAB_BUILD"])
PROGRAM = BUILD / "rehearsal/shardlab"
PYTHON = os.environ.get("SHARDLAB_TRANSFORMERS", "")  # what the comparison with Python needs
MOST_BYTES = 24 << 20  # of the folder that is carried, packed
FAULTS = {"A": {"small": "hang", "training": "crash", "memory": "memory"}}
# What a fault is called in the table: how its row begins, and what it says.
OUTCOMES = {"hang": ("TIMED OUT", ""), "crash": ("CRASHED", "signal"), "memory": ("FAILED", "out of memory")}

# Measure the sizes of GPUs, for which a processor takes longer than their limits; that they end there is what is seen.
TOO_LARGE = ("bench", "calibrate")


def start(stage, results, faults=None):
    environment = {**os.environ, "SHARDLAB": str(PROGRAM), "SHARDLAB_PYTHON": PYTHON, "SHARDLAB_REHEARSE": "1", "RESULTS": str(results),
                   "FAULTS": " ".join(f"{step}={kind}" for step, kind in (faults or {}).items())}
    if faults:
        environment["STEP_SECONDS"] = "60"
    return subprocess.Popen(["bash", str(SOURCE / "tests/gpu/first_hour.sh"), stage], env=environment, stdout=subprocess.PIPE, text=True,
                            start_new_session=True)


def rows(results):
    """{step: outcome} of the table, and the names in the archive."""
    lines = (results / "table.txt").read_text().splitlines()[1:]
    with tarfile.open(results / "results.tar.gz") as archive:
        names = archive.getnames()
    return {line[:28].strip(): line[48:].strip() for line in lines}, names


def check(holds, message):
    if not holds:
        raise SystemExit(f"failed: {message}")


def rehearse(stage, folder):
    results, faults, began = folder / stage, FAULTS.get(stage, {}), time.monotonic()
    out, _ = start(stage, results, faults).communicate(timeout=1200)
    outcomes, names = rows(results)
    print(f"{stage}: {time.monotonic() - began:.0f} s\n{out}", flush=True)
    for step, outcome in outcomes.items():
        begin, words = OUTCOMES.get(faults.get(step), (("good", "skipped", "TIMED OUT") if step in TOO_LARGE else ("good", "skipped"), ""))
        check(outcome.startswith(begin) and words in outcome, f"{stage} {step}: {outcome}, expected {begin} {words}")
        check(f"files/{step}.log" in names, f"{step}.log is not in the archive")


def kill_half_way(folder):
    """Killed as a borrowed machine is given back: at once, and with everything that it started."""
    results = folder / "killed"
    process = start("A", results)
    while process.poll() is None and not (results / "results.tar.gz").exists():
        time.sleep(0.2)
    time.sleep(5)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    outcomes, names = rows(results)
    check(outcomes and all(f"files/{step}.log" in names for step in outcomes), f"kept: {outcomes}, {names}")
    print(f"killed: {len(outcomes)} steps are kept")


def weigh(folder):
    target = folder / "portable"
    subprocess.run(["bash", str(SOURCE / "scripts/portable.sh"), str(BUILD), str(target)], check=True, stdout=subprocess.DEVNULL)
    packed = folder / "portable.tar.xz"
    with tarfile.open(packed, "w:xz") as archive:
        archive.add(target, "portable")
    size = packed.stat().st_size
    print(f"the portable folder is {size / 2**20:.1f} MiB packed, {MOST_BYTES >> 20} at most")
    check(size <= MOST_BYTES, "the portable folder is too large")


if not PROGRAM.exists() or not pathlib.Path(PYTHON or "/nowhere").exists():
    print("skipped: the rehearsal's program is not built, or there is no Python with transformers")
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="shardlab-first-hour-") as place:
    kill_half_way(pathlib.Path(place))
    for turn in "ABCD":
        rehearse(turn, pathlib.Path(place))
    weigh(pathlib.Path(place))
