"""`history`, `show`, `diff`, `trace` on stored runs."""
# processors: 1

import json
import sqlite3

from _shardlab import SOURCE, TINY, WITH_TORCH, Place, check, check_fields, check_run, expect, expect_error, main

ENTRY_FIELDS = {"run_id": "text", "kind": "text", "name": "text", "strategy": "text", "ranks": "int", "plan_hash": "text", "machine": "text", "implementation": "text?"}
METRIC_FIELDS = {"name": "text", "predicted": "number?", "measured": "number?", "error": "number?", "tolerance": "number?", "verdict": "text"}


def two_runs():
    place = Place()
    scenario = place.scenario()
    ids = [expect(place.run("simulate", scenario, "--json"), 0).json()["run_id"] for _ in range(2)]
    return place, ids


def test_history():
    place, ids = two_runs()
    runs = expect(place.run("history", "--json"), 0).json()["runs"]
    check([run["run_id"] for run in runs] == ids[::-1], "not newest first")
    for run in runs:
        check_fields(run, ENTRY_FIELDS, "runs")
    check(ids[0] in expect(place.run("history"), 0).out, "the table does not name the run")
    check({(run["machine"], run["implementation"]) for run in runs} == {("2 processors", "fused")}, f"{runs[0]}")
    large = SOURCE / "scenarios/first/llama3-8b-fsdp2-8xh100.yaml"
    expect(place.run("simulate", large, "--db", place.path / "large.db"), 0)
    of_gpus = expect(place.run("history", "--db", place.path / "large.db", "--json"), 0).json()["runs"][0]
    check((of_gpus["machine"], of_gpus["implementation"]) == ("8 x H100-SXM (dgx-h100)", "eager"), f"{of_gpus}")
    check("8 x H100-SXM" in expect(place.run("history", "--db", place.path / "large.db"), 0).out, "the table names the GPU")
    check(len(expect(place.run("history", "--json", "--limit", "1"), 0).json()["runs"]) == 1, "--limit")
    check(expect(place.run("history", "--json", "--kind", "measured"), 0).json()["runs"] == [], "--kind")
    check(expect(place.run("history", "--json", "--name", "other"), 0).json()["runs"] == [], "--name")
    check(len(expect(place.run("history", "--json", "--plan", runs[0]["plan_hash"][:8]), 0).json()["runs"]) == 2, "--plan")
    expect_error(place.run("history", "--kind", "mesured"), 2, "--kind", "did you mean 'measured'?")


def test_history_tells_runs_of_one_name_apart():
    place = Place()
    scenario = place.scenario()
    for settings in ((), ("--set", "parallel.strategy=ddp"), ("--set", "train.micro_batch=4", "--set", "cluster.ranks=1")):
        expect(place.run("simulate", scenario, *settings), 0)
    runs = expect(place.run("history", "--json"), 0).json()["runs"]
    changed = [{each["key"]: (each["before"], each["value"]) for each in run["changed"]} for run in runs]
    check(changed[1] == {"parallel.strategy": ("fsdp2", "ddp")} and changed[2] == {}, f"{changed}")
    check(changed[0]["train.micro_batch"] == ("2", "4") and changed[0]["parallel.strategy"] == ("ddp", "fsdp2"), f"{changed}")
    lines = expect(place.run("history"), 0).out.splitlines()
    check("strategy=ddp" in lines[2] and all(len(line) <= 80 for line in lines), "\n".join(lines))


ROW_FIELDS = {"name": "text", "runs": "int", "count": "int", "predicted_ns": "int", "measured_ns": "int", "bias": "number",
              "median": "number", "share": "number"}


def test_residuals():
    if not WITH_TORCH:
        return
    place, _ = two_runs()
    expect_error(place.run("residuals"), 3, "residuals", "validate")
    expect(place.run("run", place.scenario(), "--json", timeout=300), 0)
    found = expect(place.run("residuals", "--all", "--json"), 0).json()
    check([(pair["predicted"], pair["measured"]) for pair in found["pairs"]] == [("r2", "r3")], f"{found['pairs']}")
    for name in ("kinds", "parts", "operators"):
        for row in found[name]:
            check_fields(row, ROW_FIELDS, name)
    kinds = {row["name"]: row for row in found["kinds"]}
    check(kinds["Forward"]["measured_ns"] > 0 and kinds["Forward"]["runs"] == 1, f"{kinds}")
    check(abs(sum(row["share"] for row in found["parts"]) - 1) < 1e-9, "the parts are not the whole error")
    check(sum(row["predicted_ns"] for row in found["kinds"]) == sum(row["predicted_ns"] for row in found["parts"]), "two sums")
    text = expect(place.run("residuals", "--all", "--most", "30"), 0).out
    check("Forward of a layer" in text and "Backward of a layer" in text, text)
    expect_error(place.run("residuals", "--all", "--name", "other"), 3, "residuals")


def test_show():
    place, ids = two_runs()
    for reference in (ids[1], ids[1][1:], "last", "tiny"):
        document = expect(place.run("show", reference, "--json"), 0).json()
        check_run(document, "predicted")
        check(document["run_id"] == ids[1], f"{reference} shows {document['run_id']}")
    check(ids[0] in expect(place.run("show", ids[0]), 0).out, "the text does not name the run")
    expect_error(place.run("show", "r99"), 2, "r99")
    expect_error(place.run("show"), 2, "run is required", "--document")
    document = expect(place.run("show", "--document"), 0).out
    check(document in (SOURCE / "docs/json.md").read_text(), "docs/json.md is not what show --document prints")
    expect_error(place.run("show", "no such name"), 2, "no such name")


def test_a_stored_run_with_weights_in_four_bits_is_shown():
    place = Place()
    text = TINY.format(name="tiny", ranks=2, strategy="fsdp1", steps=3)
    quantized = text.replace("model:\n", "model:\n  quantized: nf4\n  lora: {rank: 4, targets: [q_proj]}\n")
    check(quantized != text, text)
    run = expect(place.run("simulate", place.scenario(text=quantized), "--json"), 0).json()["run_id"]
    expect(place.run("show", run), 0)
    expect(place.run("diff", run, run), 0)


def test_show_repeats_the_scenario():
    place, ids = two_runs()
    again = place.path / "again.yaml"
    again.write_text(expect(place.run("show", ids[0], "--scenario"), 0).out)
    document = expect(place.run("simulate", again, "--json"), 0).json()
    check(document["plan_hash"] == expect(place.run("show", ids[0], "--json"), 0).json()["plan_hash"], "another plan")


def test_annotations():
    place, ids = two_runs()
    expect(place.run("show", ids[0], "--add-tag", "keep", "--add-tag", "best", "--note", "the first one"), 0)
    entry = expect(place.run("show", ids[0], "--json"), 0).json()["entry"]
    check(sorted(entry["tags"]) == ["best", "keep"] and entry["note"] == "the first one", f"{entry}")
    check([run["run_id"] for run in expect(place.run("history", "--tag", "keep", "--json"), 0).json()["runs"]] == [ids[0]], "--tag")
    expect(place.run("show", ids[0], "--remove-tag", "keep"), 0)
    check(expect(place.run("history", "--tag", "keep", "--json"), 0).json()["runs"] == [], "--remove-tag")


def test_diff_of_equal_runs():
    place, ids = two_runs()
    document = expect(place.run("diff", *ids, "--json"), 0).json()
    check_fields(document, {"predicted": "map", "measured": "map", "metrics": "list", "verdict": "text"})
    check(document["metrics"], "nothing compared")
    for metric in document["metrics"]:
        check_fields(metric, METRIC_FIELDS, "metrics")
        check(metric["error"] in (0, None), f"equal runs differ: {metric}")


ALIVE_FIELDS = {"bytes": "int", "what": "text", "class": "text", "buffers": "int", "since": "text", "since_id": "int?"}
DIFFERENCE_FIELDS = {"name": "text", "first": "number?", "second": "number?", "difference": "number?", "in_words": "text"}


def test_what_is_alive_at_the_peak():
    place = Place()
    for strategy in ("fsdp2", "fsdp1", "ddp"):
        document = expect(place.run("simulate", place.scenario(strategy=strategy), "--peak", "--json"), 0).json()
        rows = document["alive_at_peak"]
        for row in rows:
            check_fields(row, ALIVE_FIELDS, "alive_at_peak")
            check(".mb" not in row["what"] and "layers." not in row["what"], f"not in words: {row['what']}")
        check(sum(row["bytes"] for row in rows) == document["memory"]["peak_allocated"], f"{strategy}: not the peak", rows)
        by_class = {}
        for row in rows:
            by_class[row["class"]] = by_class.get(row["class"], 0) + row["bytes"]
        for name, size in document["memory"]["by_class"].items():
            check(by_class.get(name, 0) == size, f"{strategy}: {name} {by_class.get(name)} is not {size}")
        again = expect(place.run("show", "last", "--peak", "--json"), 0).json()
        check(again["alive_at_peak"] == rows, "show --peak and simulate --peak differ")
    text = expect(place.run("show", "last", "--peak"), 0).out
    for part in ("alive at the peak: rank 0, in ", "parameters of 2 layers", "since", "before the step"):
        check(part in text, f"'{part}' is missing", text)


def test_diff_across_plans_and_strategies():
    place, ids = two_runs()
    other = expect(place.run("simulate", place.scenario(strategy="fsdp1"), "--json"), 0).json()["run_id"]
    done = expect(place.run("diff", ids[0], other), 0)
    for part in ("differ  parallel.strategy fsdp2 / fsdp1", "difference", "memory at the peak", "time by kind",
                 "time by part of the model", "layer 1", "step time", "gone"):
        check(part in done.out, f"'{part}' is missing", done)
    check(" new\n" in expect(place.run("diff", other, ids[0]), 0).out, "what only the second has is not new")
    for part in ("error", "verdict", "measured", "\x1b"):
        check(part not in done.out, f"'{part}' of a mere difference", done)
    document = expect(place.run("diff", ids[0], other, "--json"), 0).json()
    check(document["same_plan"] is False and document["verdict"] == "not judged" and document["instructions"] == [], "judged")
    check(document["differs_in"] == [{"key": "parallel.strategy", "first": "fsdp2", "second": "fsdp1"}], document["differs_in"])
    for rows in document["difference"].values():
        check(rows, "an empty table")
        for row in rows:
            check_fields(row, DIFFERENCE_FIELDS, "difference")


def test_diff_of_scenario_files():
    place = Place()
    scenario = place.scenario()
    done = expect(place.run("diff", scenario, scenario, "--set", "train.micro_batch=4"), 0)
    check("differ  train.micro_batch 2 / 4" in done.out, "does not say what differs", done)
    check(not place.db.exists(), "a question made a database")
    stored = expect(place.run("simulate", scenario, "--json"), 0).json()["run_id"]
    same = expect(place.run("diff", stored, scenario), 0)
    check("differ" not in same.out.split("\n\n")[0] and "same" in same.out, "equal ones differ", same)
    expect_error(place.run("diff", scenario, stored, "--set", "train.micro_batch=4"), 2, "--set", "stored run")
    expect_error(place.run("diff", scenario, place.path / "missing.yaml"), 2, "missing.yaml")


def made_measured(place, run_id, factor):
    """Turns a stored prediction into a measurement whose steps took longer: what libtorch would have left there."""
    with sqlite3.connect(place.db) as database:
        (text,) = database.execute("SELECT summary FROM runs WHERE id = ?", (run_id[1:],)).fetchone()
        summary = json.loads(text)
        summary["kind"] = "measured"
        summary["step_time_ns"]["median"] = int(summary["step_time_ns"]["median"] * factor)
        database.execute("UPDATE runs SET kind = 'measured', summary = ? WHERE id = ?", (json.dumps(summary), run_id[1:]))


def test_diff_of_predicted_and_measured_is_judged():
    place = Place()
    scenario = place.scenario(extra="  tolerance: {step_time: 0.1}\n", text=TINY.format(name="tiny", ranks=2, strategy="fsdp2", steps=3)
                              .replace("measure: {warmup_steps: 1, steps: 3}", "measure:\n  steps: 3"))
    ids = [expect(place.run("simulate", scenario, "--json"), 0).json()["run_id"] for _ in range(2)]
    for factor, code, verdict in ((1.05, 0, "pass"), (2, 1, "fail")):
        made_measured(place, ids[1], factor)
        for order in (ids, ids[::-1]):
            done = expect(place.run("diff", *order), code)
            check("error" in done.out and f"verdict: {verdict}" in done.out, "not judged like validate", done)
            document = expect(place.run("diff", *order, "--json"), code).json()
            check(document["verdict"] == verdict and document["predicted"]["run_id"] == ids[0], "the prediction is not the first")


JUDGED = TINY.format(name="tiny", ranks=2, strategy="fsdp2", steps=3).replace(
    "measure: {warmup_steps: 1, steps: 3}", "measure:\n  steps: 3\n  tolerance: {step_time: 0.1, peak_allocated: 0.01}")


def test_diff_leaves_times_alone_that_a_validation_did_not_judge():
    place = Place()
    scenario = place.scenario(text=JUDGED)
    ids = [expect(place.run("simulate", scenario, "--json"), 0).json()["run_id"] for _ in range(2)]
    made_measured(place, ids[1], 2)
    expect(place.run("diff", *ids), 1)
    why = "other programs took 38 % of the processors meanwhile"
    with sqlite3.connect(place.db) as database:  # what `validate` leaves there
        database.execute("UPDATE runs SET times_not_judged = ? WHERE id = ?", (why, ids[1][1:]))
    for first in (ids[0], scenario):  # another prediction is no better off
        done = expect(place.run("diff", first, ids[1]), 5)
        check(f"time not judged: {why}" in done.out and "verdict: not judged" in done.out, "judged all the same", done)
        document = expect(place.run("diff", first, ids[1], "--json"), 5).json()
        verdicts = {metric["name"]: metric["verdict"] for metric in document["metrics"] if metric["tolerance"] is not None}
        check(verdicts == {"step_time": "not judged", "peak_allocated": "pass"}, f"{verdicts}")
        check(document["times_not_judged"] == why, f"{document['times_not_judged']}")
    entry = expect(place.run("show", ids[1], "--json"), 0).json()["entry"]
    check(entry["times_not_judged"] == why, f"{entry}")


# A plan says nothing about machines: the same one on 2 H100 and on 2 processors has one hash.
def test_a_prediction_for_another_machine_only_differs():
    place = Place()
    run = expect(place.run("simulate", place.scenario(text=JUDGED), "--json"), 0).json()
    made_measured(place, run["run_id"], 2)
    elsewhere = JUDGED.replace("{device: cpu, ranks: 2}", "{gpu: H100-SXM, gpus_per_node: 2}")
    check(elsewhere != JUDGED, JUDGED)
    elsewhere = place.scenario(name="elsewhere", text=elsewhere.replace("model:\n", "model:\n  implementation: fused\n"))
    done = expect(place.run("diff", elsewhere, run["run_id"]), 0)
    check("a prediction and a measurement of different machines" in done.out, "it does not say why", done)
    check("difference" in done.out and "error" not in done.out and "verdict" not in done.out, "judged all the same", done)
    document = expect(place.run("diff", elsewhere, run["run_id"], "--json"), 0).json()
    check(document["same_plan"] is True and document["verdict"] == "not judged", f"{document['same_plan']} {document['verdict']}")


def test_perfetto_trace():
    place, ids = two_runs()
    events = json.loads(expect(place.run("trace", ids[0]), 0).out)["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    plan = expect(place.run("plan", place.scenario(), "--json"), 0).json()
    check(len(slices) == len(plan["instructions"]), f"{len(slices)} slices, {len(plan['instructions'])} instructions")
    check({event["cat"] for event in slices} == {i["kind"] for i in plan["instructions"]}, "kinds differ")
    names = {event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    check(set(plan["streams"]) <= names, f"{names}")
    check(any(event["ph"] == "C" for event in events) and any(event["ph"] == "s" for event in events), "no memory or no waits")
    both = json.loads(expect(place.run("trace", *ids), 0).out)["traceEvents"]
    check({event["pid"] for event in both} == {1, 2}, "two runs are not two processes")


def test_trace_into_a_file():
    place, ids = two_runs()
    file = place.path / "trace.csv"
    document = expect(place.run("trace", ids[0], "--format", "csv", "-o", file, "--json"), 0).json()
    check(document["bytes"] == file.stat().st_size, "another size")
    header = file.read_text().splitlines()[0]
    check(header.startswith("run,step,rank,instruction,kind,stream"), header)
    expect_error(place.run("trace", ids[0], "-o", place.path / "missing" / "trace.json"), 2, "missing")
    expect_error(place.run("trace", ids[0], "--format", "cvs"), 2, "did you mean 'csv'?")
    full = place.run("trace", ids[0], "-o", place.path / "cut.json", largest_file=1000)
    check(full.code == 3 and not (place.path / "cut.json").exists(), "half a trace is left", full)


def test_a_large_prediction_is_stored_small():
    place = Place()
    scenario = SOURCE / "scenarios/validation/llama-80-layers.yaml"
    large = ("--set", "train.accumulation=8", "--set", "train.sync=every")
    stored = expect(place.run("simulate", scenario, *large, "--json"), 0).json()
    instructions = expect(place.run("plan", scenario, *large, "--json"), 0).json()["instructions"]
    size = place.db.stat().st_size
    print(f"        {len(instructions)} instructions, {size / 1e6:.2f} MB")
    check(len(instructions) > 15000 and size < 2e6, f"{len(instructions)} instructions, {size} bytes")
    # What SQL has no rows for, the program has.
    rows = expect(place.run("trace", stored["run_id"], "--format", "csv"), 0).out.splitlines()
    check(len(rows) == 1 + len(instructions), f"{len(rows)} rows")
    again = expect(place.run("simulate", scenario, *large, "--json"), 0).json()
    beside = expect(place.run("diff", stored["run_id"], again["run_id"], "--json"), 0).json()
    check(beside["memory_difference"]["equal"] == beside["memory_difference"]["borders"], f"{beside['memory_difference']}")
    check(place.db.stat().st_size < 2.5e6, "a second one needs no plan")


main(globals())
