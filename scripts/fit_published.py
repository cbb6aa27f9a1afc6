#!/usr/bin/env python3
"""Fits assets/hardware/fitted.json to the published runs of assets/backtest, and says how well that holds.

    scripts/fit_published.py --shardlab build/bin/shardlab [--write]

The figures stay within their ranges. Every series of sources (rules in assets/backtest say which sources repeat each other) weighs the same,
however many rows it has; within a series errors count by their size, not their square, so that single rows do not pull. Each series is then
left out in turn: the figures are fitted to the others, and its rows predicted with those. Predictions near a fit are taken as linear in the
logarithms of the figures, whose slopes are measured by predicting all rows again with one figure changed at a time.
"""
import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

STEP = 0.05  # of a figure's logarithm, to measure slopes
ROUNDS = 2


class Backtests:
    """Predictions of all published rows by the program, with other figures than the shipped ones."""

    def __init__(self, shardlab, assets):
        self.shardlab, self.folder = shardlab, tempfile.TemporaryDirectory()
        self.assets = pathlib.Path(self.folder.name) / "assets"
        shutil.copytree(assets, self.assets, symlinks=True)
        self.file = self.assets / "hardware" / "fitted.json"
        self.document = json.loads(self.file.read_text())

    def figures(self):
        return {name: figure["value"] for name, figure in self.document["figures"].items()}

    def rows(self, figures):
        """By row: the logarithm of predicted / published; and the series."""
        for name, value in figures.items():
            figure = self.document["figures"][name]
            figure["value"] = value
            figure["low"], figure["high"] = min(figure["low"], value), max(figure["high"], value)
        self.file.write_text(json.dumps(self.document))
        ran = subprocess.run([self.shardlab, "backtest", "--metric", "time", "--no-store", "--json"], text=True, capture_output=True,
                             env={**os.environ, "SHARDLAB_ASSETS": str(self.assets)}, check=True)
        rows = [row for row in json.loads(ran.stdout)["rows"] if row["error"] is not None]
        return {row["id"]: math.log1p(row["error"]) for row in rows}, {row["id"]: row["series"] for row in rows}


def weights(series, rows, errors):
    """Each series the same; rows by the size of their error and not its square."""
    count = {name: sum(series[row] == name for row in rows) for name in set(series[row] for row in rows)}
    return {row: 1 / count[series[row]] / max(abs(errors[row]), 0.02) for row in rows}


def solve(matrix, vector):
    """Gauss elimination with a little damping, so that a figure that no row feels stays where it is."""
    size = len(vector)
    rows = [list(matrix[i]) + [vector[i]] for i in range(size)]
    for i in range(size):
        rows[i][i] += 1e-3
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, size):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    answer = [0.0] * size
    for i in reversed(range(size)):
        answer[i] = (rows[i][size] - sum(rows[i][j] * answer[j] for j in range(i + 1, size))) / rows[i][i]
    return answer


def fit(start, ranges, errors, slopes, series, rows):
    """Logarithms of the figures at which the linear predictions of these rows are nearest to what was published."""
    names, now = list(start), dict(start)
    for _ in range(30):
        at = {row: errors[row] + sum(slopes[n][row] * (now[n] - start[n]) for n in names) for row in rows}
        weight = weights(series, rows, at)
        free = [n for n in names if ranges[n][0] < now[n] < ranges[n][1]] or names
        matrix = [[sum(weight[r] * slopes[a][r] * slopes[b][r] for r in rows) for b in free] for a in free]
        vector = [-sum(weight[r] * slopes[a][r] * at[r] for r in rows) for a in free]
        for name, change in zip(free, solve(matrix, vector)):
            now[name] = min(max(now[name] + 0.5 * change, ranges[name][0] + 1e-6), ranges[name][1] - 1e-6)
    return now


def linear(errors, slopes, start, now, rows):
    return {row: errors[row] + sum(slopes[n][row] * (now[n] - start[n]) for n in start) for row in rows}


def describe(label, errors, series):
    sizes = [abs(math.expm1(e)) for e in errors.values()]
    sizes.sort()
    by_series = {}
    for row, error in errors.items():
        by_series.setdefault(series[row], []).append(abs(math.expm1(error)))
    medians = {name: statistics.median(values) for name, values in by_series.items()}
    print(f"{label}: median over series {100 * statistics.median(medians.values()):.1f} %, rows: median "
          f"{100 * statistics.median(sizes):.1f} %, 90th percentile {100 * sizes[int(0.9 * (len(sizes) - 1))]:.1f} %, bias "
          f"{100 * math.expm1(statistics.mean(errors.values())):+.1f} %")
    for name in sorted(medians, key=lambda n: -len(by_series[n])):
        print(f"    {name:40} {len(by_series[name]):4} rows, median {100 * medians[name]:.1f} %")


def measure(backtests, start):
    """Errors at these figures and their slopes over each figure's logarithm."""
    errors, series = backtests.rows({n: math.exp(v) for n, v in start.items()})
    slopes = {}
    for name in start:
        changed, _ = backtests.rows({n: math.exp(v + (STEP if n == name else 0)) for n, v in start.items()})
        slopes[name] = {row: (changed[row] - errors[row]) / STEP for row in errors}
    return errors, slopes, series


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shardlab", default="build/bin/shardlab")
    parser.add_argument("--assets", default=str(pathlib.Path(__file__).resolve().parent.parent / "assets"))
    parser.add_argument("--write", action="store_true", help="the fit into assets/hardware/fitted.json")
    arguments = parser.parse_args()
    shipped = json.loads((pathlib.Path(arguments.assets) / "hardware" / "fitted.json").read_text())
    ranges = {n: (math.log(f["low"]), math.log(f["high"])) for n, f in shipped["figures"].items()}
    backtests = Backtests(arguments.shardlab, arguments.assets)
    start = {n: math.log(v) for n, v in backtests.figures().items()}
    for _ in range(ROUNDS):
        errors, slopes, series = measure(backtests, start)
        best = fit(start, ranges, errors, slopes, series, list(errors))
        moved, start = max(abs(best[n] - start[n]) for n in start), best
        if moved < 0.01:
            break
    errors, slopes, series = measure(backtests, start)
    for name, value in start.items():
        print(f"{name:18} {math.exp(value):.4g} {shipped['figures'][name]['unit']}, "
              f"{shipped['figures'][name]['low']} to {shipped['figures'][name]['high']}")
    describe("fitted to all", errors, series)
    left_out, spread = {}, {name: [] for name in start}
    for name in sorted(set(series.values())):
        others = fit(start, ranges, errors, slopes, series, [row for row in errors if series[row] != name])
        left_out.update(linear(errors, slopes, start, others, [row for row in errors if series[row] == name]))
        for figure, value in others.items():
            spread[figure].append(math.exp(value))
    describe("each series by the others", left_out, series)
    for name, values in spread.items():
        print(f"{name:18} {min(values):.4g} to {max(values):.4g} without one series")
    if arguments.write:
        for name, value in start.items():
            shipped["figures"][name]["value"] = float(f"{math.exp(value):.3g}")
        write(pathlib.Path(arguments.assets) / "hardware" / "fitted.json", shipped)


def write(file, document):
    lines = [f'    {json.dumps(name)}: {{"value": {f["value"]:g}, "low": {f["low"]:g}, "high": {f["high"]:g}, "unit": {json.dumps(f["unit"])},\n'
             f'      "meaning": {json.dumps(f["meaning"])},\n      "source": {json.dumps(f["source"])}}}'
             for name, f in document["figures"].items()]
    file.write_text('{\n  "figures": {\n' + ",\n".join(lines) + "\n  }\n}\n")


if __name__ == "__main__":
    main()
