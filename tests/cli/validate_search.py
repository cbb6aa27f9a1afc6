"""`validate --search`: the best of a search, run here, or written out and their runs taken from another database."""
# processors: 2

import os

from _shardlab import Place, check, check_fields, expect, expect_error, main, needs_torch

needs_torch()

SEARCH = """scenario: tiny.yaml
keep: {global_batch: 8}
vary:
  train.micro_batch: [1, 2, 4]
  parallel: [{strategy: ddp}, {strategy: fsdp2}]
"""
FIELDS = {"objective": "text", "candidates": "list", "measured_order": "list", "pairs": "int", "in_order": "int", "regret": "number?"}
CANDIDATE = {"settings": "list", "predicted_step_ns": "int", "measured_step_ns": "int?", "run": "text", "cost": "number?"}


def question(place):
    place.scenario()
    file = place.path / "q.yaml"
    file.write_text(SEARCH)
    return file


def test_written_out_and_taken_from_another_database():
    place = Place()
    file = question(place)
    asked = ("validate", "--search", file, "--top", "3")
    folder, other = place.path / "best", place.path / "best/runs.db"
    expect(place.run(*asked, "--write", folder), 0)
    check(sorted(each.name for each in folder.iterdir()) == ["1.yaml", "2.yaml", "3.yaml", "run.sh"], f"{sorted(folder.iterdir())}")
    check((folder / "run.sh").read_text().count("shardlab run ") == 3, "a command for each")
    for name in ("1.yaml", "3.yaml"):
        expect(place.run("run", folder / name, env=place.environment(SHARDLAB_DB=str(other))), 0)
    document = expect(place.run(*asked, "--from", other, "--json"), 0).json()
    check_fields(document, FIELDS)
    for each in document["candidates"]:
        check_fields(each, CANDIDATE, "candidates")
    ran = [each["measured_step_ns"] is not None for each in document["candidates"]]
    check(ran == [True, False, True] and sorted(document["measured_order"]) == [1, 3], f"{document}")
    costs = [document["candidates"][place - 1]["cost"] for place in document["measured_order"]]
    check(costs == sorted(costs) and abs(document["regret"] - (document["candidates"][0]["cost"] / costs[0] - 1)) < 1e-9, f"{document}")
    text = " ".join(expect(place.run(*asked, "--from", other), 0).out.split())
    for part in ("the 3 best for time beside their runs", "no run of this plan", "pairs whose runs are 10 % apart", "the pick takes"):
        check(part in text, f"'{part}' is not in\n{text}")
    expect_error(place.run(*asked, "--from", place.path / "none.db"), 2, "none.db")


def test_run_here():
    place = Place()
    file = question(place)
    result = expect(place.run("validate", "--search", file, "--top", "2", "--no-calibrate", "--json", timeout=300), 0)
    check(all(each["measured_step_ns"] for each in result.json()["candidates"]), f"{result.json()}")
    check(len(expect(place.run("history", "--json"), 0).json()["runs"]) == 4, "two predictions and two runs")


def test_mistakes():
    place = Place()
    file = question(place)
    expect_error(place.run("validate"), 2, "--search")
    expect_error(place.run("validate", place.path / "tiny.yaml", "--search", file), 2, "one of the two")
    if os.geteuid() != 0:
        expect_error(place.run("validate", "--search", file, "--write", "/proc/none"), 2, "/proc/none")


main(globals())
