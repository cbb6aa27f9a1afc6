"""`--progress json`: events on stderr for programs that watch."""

import json

from _shardlab import Place, check, expect, main, needs_torch


def events_of(result):
    return [json.loads(line) for line in result.err.splitlines() if line.startswith('{"event"')]


def test_an_error_is_an_event_too():
    place = Place()
    result = place.run("run", "/no/such.yaml", "--progress", "json")
    events = events_of(result)
    check(len(events) == 1 and events[0]["event"] == "error", f"{result.err}")
    check(events[0]["exit_code"] == result.code == 2, f"{events} {result.code}")
    check("/no/such.yaml" in events[0]["where"] + events[0]["what"], f"{events}")


def test_only_line_and_json():
    place = Place()
    expect(place.run("run", "s.yaml", "--progress", "xml"), 2)


def test_a_run_tells_its_steps_and_what_it_stored():
    needs_torch()
    place = Place()
    result = expect(place.run("run", place.scenario(steps=20), "--progress", "json", "--json"), 0)
    run = result.json()
    events = events_of(result)
    training = [event for event in events if event["event"] == "training"]
    check(training and training[-1]["steps_done"] == training[-1]["steps"] == len(run["losses"]), f"{training[-1:]}")
    check(abs(training[-1]["loss"] - run["losses"][-1]) < 1e-9, f"{training[-1]} {run['losses'][-1]}")
    check(training[-1]["tokens_per_second"] > 0 and training[-1]["step_time_ns"] > 0, f"{training[-1]}")
    check(0 < training[-1]["peak_bytes"] <= run["memory"]["peak_allocated"], f"{training[-1]}")
    stored = [event for event in events if event["event"] == "stored"]
    check([(event["run_id"], event["kind"]) for event in stored] == [(run["run_id"], "measured")], f"{stored}")


def test_without_it_there_are_none():
    place = Place()
    result = place.run("run", "/no/such.yaml")
    check(events_of(result) == [], f"{result.err}")


main(globals())
