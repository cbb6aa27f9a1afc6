"""The table of docs/backtest.md: how far predictions are from published runs with the default operators and with shardlab's own, by sequence
length, GPU and number of GPUs.

    python3 scripts/backtest_by_implementation.py [PROGRAM]    two backtests of all rows: minutes
"""

import json
import math
import statistics
import subprocess
import sys

OURS = ("--set", "model.implementation=fused", "--set", "model.attention=auto", "--set", "model.compile=none", "--set", "model.loss.compiled=false")
GROUPS = {"all": "", "sequence": "sequence ", "device": "", "GPUs": "GPUs "}


def errors(program, *settings):
    """row id -> (its groups, predicted / published - 1) of rows with a prediction; and all groups, in their order."""
    done = subprocess.run([program, "backtest", "--no-store", "--metric", "time", *settings, "--json"], check=True, stdout=subprocess.PIPE, text=True)
    document = json.loads(done.stdout)
    rows = {row["id"]: (row["groups"], row["error"]) for row in document["rows"] if row["error"] is not None}
    return rows, [(line["by"], line["key"]) for line in document["summary"]]


def figures(errors_of_rows):
    """Median of the size, and the error of the geometric mean."""
    bias = math.exp(statistics.fmean(math.log1p(error) for error in errors_of_rows)) - 1
    return f"{statistics.median(map(abs, errors_of_rows)):.1%}", f"{bias:+.1%}"


def main(program="shardlab"):
    (default, groups), (ours, _) = errors(program), errors(program, *OURS)
    both = [row for row in default if row in ours]
    lines = [line for by in GROUPS for line in groups if line[0] == by]
    print("| rows | | default: median | bias | fused: median | bias |\n| --- | --- | --- | --- | --- | --- |")
    for by, key in lines:
        rows = [row for row in both if by == "all" or {"by": by, "key": key} in default[row][0]]
        if not rows:
            continue
        cells = [*figures([default[row][1] for row in rows]), *figures([ours[row][1] for row in rows])]
        print(f"| {GROUPS[by]}{key} | {len(rows)} | " + " | ".join(cells) + " |")


main(*sys.argv[1:])
