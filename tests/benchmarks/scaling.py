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


def main():
    errors = {"alike": [], "differ": []}
    with tempfile.TemporaryDirectory() as name:
        print(f"{'run':52} {'GPUs':>5} {'published':>10} {'alike':>8} {'differ':>8}")
        for rows in series():
            first = None
            for count in sorted(rows):
                row = rows[count]
                rates = predicted(row, pathlib.Path(name))
                if rates is None:
                    continue
                published = float(row["tokens_per_s_per_gpu"])
                if first is None:
                    first = (published, *rates)
                    print(f"{row['id'][:52]:52} {count:>5} {published:>10,.0f} {rates[0]:>8,.0f} {rates[1]:>8,.0f}")
                    continue
                shares = [value / base for value, base in zip((published, *rates), first)]
                print(f"{row['id'][:52]:52} {count:>5} {shares[0]:>10.1%} {shares[1]:>8.1%} {shares[2]:>8.1%}", flush=True)
                errors["alike"].append(shares[1] - shares[0])
                errors["differ"].append(shares[2] - shares[0])
    for kind, values in errors.items():
        size = sum(map(abs, values)) / len(values)
        print(f"ranks {kind}: {len(values)} rows, mean error {100 * size:.1f} points, median {100 * statistics.median(map(abs, values)):.1f}, "
              f"median bias {100 * statistics.median(values):+.1f}  target of the mean {100 * TARGET:.0f}: "
              f"{'met' if size <= TARGET else 'NOT MET'}")


if __name__ == "__main__":
    main()
