"""`calibrate` and `validate`: the comparison of a prediction with a real run."""

from _shardlab import Place, check, check_fields, check_run, expect, expect_error, main, needs_torch
from _verdict import check_verdict

needs_torch()

METRIC_FIELDS = {"name": "text", "predicted": "number?", "measured": "number?", "error": "number?", "tolerance": "number?", "verdict": "text"}


def test_calibrates_once_then_compares():
    place = Place()
    scenario = place.scenario(steps=5)
    first = expect(place.run("validate", scenario, "--json", timeout=300), 0)
    check("calibrat" in first.err, "it does not say that it calibrates", first)
    document = check_verdict(first)
    check_fields(document, {"predicted": "map", "measured": "map", "metrics": "list", "verdict": "text", "times_not_judged": "text?"})
    for when in ("slowdown_before", "slowdown_after"):
        groups = document["machine"][when]
        check(set(groups) == {"matrix products", "operators", "collectives"} and all(each > 0 for each in groups.values()), f"{groups}")
    check_run(document["predicted"], "predicted")
    check_run(document["measured"], "measured")
    check(document["predicted"]["calibrated"] is True, "the calibration is not used")
    for metric in document["metrics"]:
        check_fields(metric, METRIC_FIELDS, "metrics")
    check({"step_time", "tokens_per_second", "exposed_communication", "peak_allocated"} <= {m["name"] for m in document["metrics"]},
          f"{[m['name'] for m in document['metrics']]}")
    judged = place.run("diff", document["measured"]["run_id"], document["predicted"]["run_id"], "--json").json()
    for what in ("metrics", "verdict", "times_not_judged"):
        check(judged[what] == document[what], f"diff judges otherwise: {what}")
    second = expect(place.run("validate", scenario, timeout=300), 0)
    # A machine that others use too may have changed since; then it says so.
    check("calibrating" not in second.err or "does not hold now" in second.err, "it calibrates again", second)
    check("step time" in second.out.lower().replace("_", " "), "no table", second)
    check(len(expect(place.run("history", "--json"), 0).json()["runs"]) == 4, "two predictions and two measurements")


def test_operators_side_by_side():
    place = Place()
    scenario = place.scenario()
    result = place.run("validate", scenario, "--no-calibrate", "--json", "--set", "measure.detail=operators")
    check(result.code in (0, 1), "no verdict", result)
    document = result.json()
    metrics = {metric["name"]: metric for metric in document["metrics"]}
    check(metrics["operator.linear.backward"]["predicted"] > 0 and metrics["operator.attention.forward"]["measured"] > 0, f"{metrics}")
    calls = [{(op["operation"], op["direction"]): op["calls"] for op in document[side]["operators"]} for side in ("predicted", "measured")]
    check(calls[0] == calls[1] and calls[0]["linear", "forward"] == 15, f"{calls}")
    shown = expect(place.run("show", "last"), 0).out
    check("operators of a rank in a step" in shown and "products and attention are" in shown, shown)
    without = expect(place.run("run", scenario, "--json"), 0).json()
    check(without["operators"] == [], f"{without['operators']}")


def test_a_verdict_that_is_not_met():
    place = Place()
    scenario = place.scenario(extra="", text=None)
    text = open(scenario, encoding="utf-8").read().replace("steps: 3}", "steps: 3, tolerance: {step_time: 0.0001%}}")
    document = check_verdict(place.run("validate", place.scenario(text=text), "--json", "--no-calibrate", timeout=120))
    metric = next(m for m in document["metrics"] if m["name"] == "step_time")
    check(document["verdict"] == metric["verdict"] and metric["tolerance"] is not None, f"{metric}")
    check(metric["verdict"] == ("fail" if document["times_not_judged"] is None else "not judged"), f"{metric}")
    # What no processor has is not met, whatever else runs there.
    bytes_only = text.replace("step_time: 0.0001%", "peak_reserved: 1%")
    expect(place.run("validate", place.scenario(text=bytes_only), "--no-calibrate", timeout=120), 1)


def test_memory_is_accounted():
    place = Place()
    document = expect(place.run("validate", place.scenario(), "--json", "--no-calibrate", timeout=120), 0).json()
    peak = next(m for m in document["metrics"] if m["name"] == "peak_allocated")
    check(abs(peak["error"]) <= 0.01, f"{peak}")


def test_several_scenarios():
    place = Place()
    files = [place.scenario(name="one"), place.scenario(name="two", strategy="ddp")]
    document = expect(place.run("validate", *files, "--json", "--no-calibrate", timeout=200), 0).json()
    check([entry["scenario"] for entry in document["scenarios"]] == ["one", "two"], f"{document.keys()}")
    check("verdict" in document, "no verdict over all")


def test_a_run_that_fails_is_a_row_of_the_table():
    place = Place()
    files = [place.scenario(name="one"), place.scenario(name="two"), place.scenario(name="three", strategy="ddp")]
    text = open(files[1], encoding="utf-8").read().replace("{device: cpu, ranks: 2}", "{device: cpu, ranks: 2, memory_limit: 100KiB}")
    files[1] = place.scenario(name="two", text=text)
    result = expect(place.run("validate", *files, "--no-calibrate", timeout=200), 4)
    table = result.out[result.out.rindex("scenario"):]
    for name in ("one", "two", "three"):
        check(name in table, f"{name} is no row of the table", result)
    check("two failed: " in table and "out of memory" in table, table)
    document = expect(place.run("validate", *files, "--json", "--no-calibrate", timeout=200), 4).json()
    check([("error" in entry) for entry in document["scenarios"]] == [False, True, False], f"{document}")
    check(document["verdict"] == "fail", document["verdict"])


def test_hardware_you_do_not_have():
    place = Place()
    text = open(place.scenario(), encoding="utf-8").read().replace("{device: cpu, ranks: 2}", "{node: hgx-h100}")
    expect_error(place.run("validate", place.scenario(text=text), timeout=60), 3, "GPU")
    expect_error(place.run("run", place.scenario(text=text), timeout=60), 3, "GPU")


def test_a_launcher_that_started_nothing():
    """Said at once, as `run` does: not after half a minute of calibration."""
    place = Place()
    for command in ("run", "validate"):
        expect_error(place.run(command, place.scenario(), "--set", "launch.launcher=slurm"), 3, "launch.launcher", "slurm did not start this process")
    check(not place.db.exists(), "a database for nothing")


def test_tolerances_of_unknown_metrics():
    place = Place()
    text = open(place.scenario(), encoding="utf-8").read().replace("steps: 3}", "steps: 3, tolerance: {step_tiem: 1%}}")
    expect_error(place.run("validate", place.scenario(text=text), "--no-calibrate", timeout=120), 2, "step_tiem")


main(globals())
