"""torch.profiler itself records a trace, and `shardlab import` reads it."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import _peer

_peer.needed("SHARDLAB_PYTHON", "SHARDLAB")

SCRIPT = pathlib.Path(os.environ["SHARDLAB_SOURCE"]) / "tests" / "data" / "profiler" / "make_cpu_trace.py"

with tempfile.TemporaryDirectory() as folder:
    trace, database = os.path.join(folder, "now.json"), os.path.join(folder, "runs.db")
    subprocess.run([os.environ["SHARDLAB_PYTHON"], SCRIPT, trace], check=True, timeout=600)
    done = subprocess.run([os.environ["SHARDLAB"], "import", trace, "--db", database, "--json"], capture_output=True, text=True,
                          timeout=120)
    if done.returncode != 0:
        sys.exit(f"failed: {done.stderr}")
    run = json.loads(done.stdout)
    assert run["step_time_ns"]["n"] == 2, run["step_time_ns"]
    assert run["memory"]["peak_allocated"] > 0, run["memory"]
    # The profiler's own file says how long its steps were; ours go from the first operator to the end of the last.
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    steps = sorted(event["dur"] * 1000 for event in events if event.get("name", "").startswith("ProfilerStep#"))
    assert steps[0] * 0.5 < run["step_time_ns"]["min"] <= steps[0], (steps, run["step_time_ns"])
    assert steps[1] * 0.5 < run["step_time_ns"]["max"] <= steps[1], (steps, run["step_time_ns"])
    print(f"recorded and imported: {run['step_time_ns']}")
