"""`history`, `show`, `diff`, `trace` on stored runs."""

import json

from _shardlab import SOURCE, Place, check, check_fields, check_run, expect, expect_error, main

ENTRY_FIELDS = {"run_id": "text", "kind": "text", "name": "text", "strategy": "text", "ranks": "int", "plan_hash": "text"}
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
    check(len(expect(place.run("history", "--json", "--limit", "1"), 0).json()["runs"]) == 1, "--limit")
    check(expect(place.run("history", "--json", "--kind", "measured"), 0).json()["runs"] == [], "--kind")
    check(expect(place.run("history", "--json", "--name", "other"), 0).json()["runs"] == [], "--name")
    check(len(expect(place.run("history", "--json", "--plan", runs[0]["plan_hash"][:8]), 0).json()["runs"]) == 2, "--plan")
    expect_error(place.run("history", "--kind", "mesured"), 2, "--kind", "did you mean 'measured'?")


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


def test_diff_of_different_plans_is_refused():
    place, ids = two_runs()
    other = expect(place.run("simulate", place.scenario(), "--json", "--set", "train.micro_batch=3"), 0).json()["run_id"]
    expect_error(place.run("diff", ids[0], other), 2, "plan")


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


main(globals())
