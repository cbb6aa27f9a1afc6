"""Puts what tests/gpu/pytorch_runs.py measured into the form that tests/cli/measured_runs.py reads: a file a machine in docs/measurements. Argv: the
file to write or add to, then folders of *.json.gz. A run that is there already is replaced."""
import gzip
import json
import pathlib
import statistics
import sys

FIGURES = {"peak_allocated": "allocated_bytes", "peak_reserved": "reserved_bytes"}
MOST_KERNELS = 12


def measured(run):
    """Of the steady steps; the device's peak counts what the allocator had reserved at its own."""
    steps = run["steps"][2:] or run["steps"][-1:]
    device = max(step["device"] + step["peak"]["reserved_bytes"] - step["now"]["reserved_bytes"] for step in steps)
    return {"scenario": run["scenario"], "ranks": run["ranks"], "step_seconds": statistics.median(step["seconds"] for step in steps),
            **{name: max(step["peak"][figure] for step in steps) for name, figure in FIGURES.items()}, "peak_device": device,
            "losses_are_numbers": all(loss == loss for loss in run["losses"]),
            "kernels_us": [[name[:100], count, round(total)] for name, count, total in run["kernels"]
                           if "Optimizer" not in name and "FullySharded" not in name and "DistributedData" not in name][:MOST_KERNELS]}


def main():
    target = pathlib.Path(sys.argv[1])
    content = json.loads(target.read_text()) if target.exists() else {"runs": {}}
    for folder in map(pathlib.Path, sys.argv[2:]):
        for file in sorted(folder.glob("*.json.gz")):
            with gzip.open(file, "rt") as stream:
                run = json.load(stream)
            content.update({"gpu": run["device"], "torch": run["torch"], "transformers": run["transformers"], "cudnn": run["cudnn"]})
            content["runs"][run["name"]] = measured(run)
    target.write_text(json.dumps(content, indent=1) + "\n")


main()
