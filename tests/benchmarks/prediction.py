"""Predicted against measured step time after `calibrate`, for the first scenario and one three times as large.

Prediction and measurement alternate over several rounds; the ratio is of the prediction to the median of all measured medians.
"""
import pathlib

import _rounds
from _peer import SOURCE, Folder, needed, shardlab

ROUNDS = 3
SCENARIOS = ["first/tiny-llama.yaml", "first/small-llama.yaml"]


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON")
    results = []
    with Folder() as folder:
        database = pathlib.Path(folder) / "runs.db"
        shardlab("calibrate", "--ranks", 2, "--threads", 1, "--db", database)
        for name in SCENARIOS:
            scenario = SOURCE / "scenarios" / name
            predicted = shardlab("simulate", scenario, "--db", database)
            if not predicted["calibrated"]:
                raise SystemExit(f"{name}: the prediction is not calibrated")
            measured = [shardlab("run", scenario, "--db", database)["step_time_ns"] for _ in range(ROUNDS)]
            medians = [m["median"] / 1e6 for m in measured]
            ratio = predicted["step_time_ns"]["median"] / 1e6 / _rounds.median(medians)
            verdict = "within" if abs(ratio - 1) <= 0.25 else "NOT within"
            print(f"{name}: predicted {predicted['step_time_ns']['median'] / 1e6:.1f} ms, measured medians "
                  f"{', '.join(f'{m:.1f}' for m in medians)} ms: predicted / measured {ratio:.3f}, {verdict} the target of 25 %",
                  flush=True)
            results.append({"scenario": name, "predicted_ms": predicted["step_time_ns"]["median"] / 1e6, "measured_ms": medians,
                            "ratio": ratio, "target": 0.25})
    _rounds.write_result("prediction", {"scenarios": results})


main()
