"""Shared by the benchmarks: medians, result files."""
import json
import os
import pathlib
import platform
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peers"))


def median(values):
    return statistics.median(values)


def processor():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def write_result(name, result):
    """Below the build folder, so that a later run can be compared with it."""
    folder = pathlib.Path(os.environ.get("SHARDLAB_BUILD", ".")) / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    result = {"machine": {"processor": processor(), "cores": os.cpu_count()}, **result}
    file = folder / f"{name}.json"
    file.write_text(json.dumps(result, indent=1) + "\n")
    print(f"written: {file}")
