"""torch.profiler itself records a trace, and `shardlab import` reads it."""
# processors: 1

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
    # Ours go from the first operator of a profiler's step to the end of its last: a pause before or after them is not of the step.
    with open(trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    marks = [event for event in events if event.get("name", "").startswith("ProfilerStep#") and event.get("ph") == "X"]
    operators = [event for event in events if event.get("cat") == "cpu_op"]
    spans = []
    for mark in marks:
        inside = [each for each in operators if mark["ts"] <= each["ts"] < mark["ts"] + mark["dur"]]
        spans.append(max(each["ts"] + each["dur"] for each in inside) - min(each["ts"] for each in inside))
    times = [run["step_time_ns"]["min"], run["step_time_ns"]["max"]]
    assert all(abs(time - span * 1000) <= 1000 for time, span in zip(times, sorted(spans))), (times, spans, marks)
    print(f"recorded and imported: {run['step_time_ns']}")
