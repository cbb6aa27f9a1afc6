"""How training scales: published series of one configuration on more and more GPUs, beside predictions with ranks all alike and with ranks
that differ (the mean over seeds). Each figure is the tokens per second and GPU relative to the smallest run of the series.

    SHARDLAB=build/bin/shardlab python3 tests/benchmarks/scaling.py [--spread gpus=1% ...]
"""

import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SHARDLAB", str(ROOT / "build/bin/shardlab"))
# What makes two rows the same configuration.
SAME = ("source_repo_or_paper", "model", "gpu", "seq_len", "gpus_per_node", "strategy", "activation_checkpointing", "fp8", "cpu_offload",
        "compile", "micro_batch_per_gpu", "grad_accum", "inter_node_gbps_per_gpu", "param_dtype")
MOST_RANKS = 512
SEEDS = 5
TARGET = 0.02  # of the relative rate, mean over the rows


def series():
    found = {}
    for row in csv.DictReader(open(ROOT / "assets/backtest/published_runs.csv", encoding="utf-8")):
        if row["tokens_per_s_per_gpu"] and row["n_gpus"].isdigit() and int(row["n_gpus"]) <= MOST_RANKS:
            groups = re.findall(r"zero1_\w+", row["id"])  # over which ranks InternEvo shards
            found.setdefault((*(row[key] for key in SAME), *groups), {}).setdefault(int(row["n_gpus"]), row)
    return [rows for rows in found.values() if len(rows) > 1]


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def predicted(row, folder):
    """Tokens per second and GPU with ranks alike, and with ranks that differ; nothing for a row that is not expressible."""
    scenario = run("backtest", "--row", row["id"])
    if scenario is None:
        return None
    file = folder / "row.yaml"
    file.write_text(scenario, encoding="utf-8")
    alike, differ = [], []
    for seed in range(SEEDS):
        text = run("simulate", str(file), "--no-store", "--json", "--quiet", "--seed", str(seed), *sys.argv[1:])
        if text is None:
            return None
        document = json.loads(text)
        differ.append(document["tokens_per_second"] / document["ranks"])
        alike.append(differ[-1] * document["step_time_ns"]["median"] / document["alike_step_time_ns"])
    return sum(alike) / SEEDS, sum(differ) / SEEDS


def summarized(name, found):
    """Two lines: (shares published, alike, differ) of rows."""
    for place, kind in ((1, "alike"), (2, "differ")):
        errors = [shares[place] - shares[0] for shares in found]
        size = statistics.fmean(map(abs, errors))
        print(f"{name}, ranks {kind}: {len(errors)} rows, mean error {100 * size:.1f} points, median "
              f"{100 * statistics.median(map(abs, errors)):.1f}, median bias {100 * statistics.median(errors):+.1f}  "
              f"target of the mean {100 * TARGET:.0f}: {'met' if size <= TARGET else 'NOT MET'}")


def shares_of(rows, folder):
    """Prints a series; the shares of all its runs but the smallest."""
    first, found = None, []
    for count in sorted(rows):
        row = rows[count]
        rates = predicted(row, folder)
        if rates is None:
            continue
        rates = (float(row["tokens_per_s_per_gpu"]), *rates)
        if first is None:
            first, shown = rates, [f"{rate:,.0f}" for rate in rates]
        else:
            found.append([value / base for value, base in zip(rates, first)])
            shown = [f"{share:.1%}" for share in found[-1]]
        print(f"{row['id'][:52]:52} {count:>5} {shown[0]:>10} {shown[1]:>8} {shown[2]:>8}", flush=True)
    return found


def main():
    by_source = {}
    with tempfile.TemporaryDirectory() as name:
        print(f"{'run':52} {'GPUs':>5} {'published':>10} {'alike':>8} {'differ':>8}")
        for rows in series():
            owner = next(iter(rows.values()))["source_repo_or_paper"].split("/")[0]
            by_source.setdefault(owner, []).extend(shares_of(rows, pathlib.Path(name)))
    for owner, found in by_source.items():
        if found:
            summarized(owner, found)
    summarized("all", [shares for found in by_source.values() for shares in found])


if __name__ == "__main__":
    main()
