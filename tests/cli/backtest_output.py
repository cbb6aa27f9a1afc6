"""`backtest`: a small table by the rules that ship, what is stored of it, and tables and rules that are wrong."""
# processors: 1

import csv
import io

from _shardlab import SOURCE, Place, check, expect, expect_error, main

SHIPPED = SOURCE / "assets/backtest/published_runs.csv"
# What the documentation promises of a row and of a line of the summary: name, types.
ROW = {"id": str, "source": str, "series": str, "metric": str, "figure": (str, type(None)), "published": (float, type(None)),
       "predicted": (float, type(None)), "low": (float, type(None)), "high": (float, type(None)), "error": (float, type(None)),
       "expressible": bool, "reason": str, "nearest": list, "rules": list, "ran_out_of_memory": bool, "fits": (str, type(None)),
       "groups": list}
SUMMARY = {"by": str, "key": str, "metric": str, "rows": int, "expressible": int, "n": int, "median": (float, type(None)),
           "mean": (float, type(None)), "p90": (float, type(None)), "worst": (float, type(None)), "bias": (float, type(None)),
           "banded": int, "in_band": int}
# Four runs of a small Llama, of which two can be expressed and one was out of memory, and one of a model that nobody knows.
RUN = {"source_repo_or_paper": "org/repo (history)", "framework": "torch", "family": "llama2", "n_layers": 2, "hidden": 256, "n_heads": 4,
       "ffn_hidden": 512, "vocab": 1000, "seq_len": 64, "gpu": "A100-80GB", "n_gpus": 8, "strategy": "FULL_SHARD", "param_dtype": "bf16",
       "micro_batch_per_gpu": 2, "oom": "no"}
RUNS = [
    {**RUN, "id": "ran", "peak_memory_allocated_gib": 0.01, "memory_kind": "allocated", "tokens_per_s_per_gpu": 100000,
     "notes": 'says "small",\nin two lines'},
    {**RUN, "id": "failed", "oom": "yes"},
    {**RUN, "id": "parallel", "tp": 2, "peak_memory_allocated_gib": 0.01, "memory_kind": "allocated"},
    {**RUN, "id": "incomplete", "seq_len": "", "peak_memory_allocated_gib": 0.01, "memory_kind": "allocated"},
    {**RUN, "id": "unknown", "family": "perceptron", "peak_memory_allocated_gib": 0.01, "memory_kind": "allocated"},
]


def table(place, runs=RUNS, drop=(), name="runs.csv"):
    columns = [column for column in dict.fromkeys(key for run in runs for key in run) if column not in drop]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(runs)
    file = place.path / name
    file.write_text(text.getvalue())
    return file


def has_fields(document, fields):
    check(set(document) == set(fields), f"{set(document) ^ set(fields)}")
    for name, types in fields.items():
        check(isinstance(document[name], types), f"{name}: {document[name]!r}")


def test_rows_and_summary():
    place = Place()
    document = expect(place.run("backtest", table(place), "--json"), 0).json()
    rows = {row["id"]: row for row in document["rows"]}
    check(list(rows) == [run["id"] for run in RUNS], f"{list(rows)}")
    for row in rows.values():
        has_fields(row, ROW)
    for line in document["summary"]:
        has_fields(line, SUMMARY)
    check(rows["ran"]["error"] == rows["ran"]["predicted"] / rows["ran"]["published"] - 1, f"{rows['ran']}")
    check(rows["ran"]["published"] == 0.01 * (1 << 30) and rows["ran"]["figure"] == "peak_allocated", f"{rows['ran']}")
    check(rows["failed"]["ran_out_of_memory"] and rows["failed"]["fits"] == "yes", f"{rows['failed']}")
    check(rows["parallel"]["reason"] == "tensor parallelism is not built", rows["parallel"]["reason"])
    check(rows["incomplete"]["reason"] == "the source does not say seq_len", rows["incomplete"]["reason"])
    check(rows["unknown"]["reason"] == "no configuration of this family is known to the rules", rows["unknown"]["reason"])
    everything = document["summary"][0]
    check((everything["by"], everything["rows"], everything["expressible"], everything["n"]) == ("all", 4, 1, 1), f"{everything}")
    check(document["verdicts"]["ran_out_of_memory"] == {"yes": 1, "unsure": 0, "no": 0}, f"{document['verdicts']}")
    check(document["metric"] == "memory" and document["backtest_id"] == 1 and document["settings"] == [], f"{document['metric']}")


def test_text():
    place = Place()
    text = expect(place.run("backtest", table(place), "--no-store"), 0).out
    check("4 published figures, 1 expressible, 1 predicted" in text, text)
    check("1  tensor parallelism is not built" in text, text)
    check("of runs that were out of memory: yes 1" in text, text)
    check("stored" not in text and not place.db.exists(), text)


def test_what_was_stored_comes_back():
    place = Place()
    first = expect(place.run("backtest", table(place), "--metric", "time", "--leave-one-source-out", "--json"), 0).json()
    again = expect(place.run("backtest", "--metric", "time", "--last", "--json"), 0).json()
    check(first == again, f"{again}")
    expect_error(place.run("backtest", "--last"), 2, "holds no backtest of memory")


def test_settings_change_every_row():
    place = Place()
    predicted = {}
    for setting in ("train.micro_batch=2", "train.micro_batch=4"):
        document = expect(place.run("backtest", table(place), "--no-store", "--set", setting, "--json"), 0).json()
        predicted[setting] = document["rows"][0]["predicted"]
        check(document["settings"] == [setting], f"{document['settings']}")
    check(predicted["train.micro_batch=4"] > predicted["train.micro_batch=2"], f"{predicted}")


def test_a_row_is_a_scenario():
    place = Place()
    file = table(place)
    text = expect(place.run("backtest", file, "--row", "ran"), 0).out
    scenario = place.scenario("ran", text=text.replace("{", "{{").replace("}", "}}"))
    peak = expect(place.run("simulate", scenario, "--no-store", "--json"), 0).json()["memory"]["peak_allocated"]
    rows = expect(place.run("backtest", file, "--no-store", "--json"), 0).json()["rows"]
    check(rows[0]["predicted"] == peak, f"{rows[0]} and {peak}")
    check("# not expressible: tensor" in expect(place.run("backtest", file, "--row", "parallel"), 0).out, "no reason")
    check("# the nearest to that run" not in text and "(assets/backtest/README.md)" in text, text)
    expect_error(place.run("backtest", file, "--row", "paralel"), 2, "did you mean 'parallel'?")
    expect_error(place.run("backtest", file, "--row", "nobody-at-all"), 2, "no row of")
    document = expect(place.run("backtest", file, "--row", "parallel", "--json"), 0).json()
    check(document["scenario"] is None and not document["expressible"] and document["rules"], f"{document}")


def test_more_rules():
    place = Place()
    more = place.path / "more"
    more.mkdir()
    rule = "- {rule: short, when: {family: llama2}, set: {model.sequence_length: 32}, because: x, source: x}\n"
    (more / "own.yaml").write_text(rule)
    file = table(place)
    text = expect(place.run("backtest", file, "--more-rules", more, "--row", "ran"), 0).out
    check("sequence_length: 32" in text and "#   short: x (x)" in text, text)
    (more / "own.yaml").write_text(rule.replace("family: llama2", "id: ran"))
    expect_error(place.run("backtest", file, "--more-rules", more), 2, "short: matches a single row of")


def test_ranking():
    place = Place()
    runs = [{**RUN, "id": f"of-{size}", "micro_batch_per_gpu": size, "tokens_per_s_per_gpu": 50000 + 10000 * size} for size in (1, 2, 4)]
    file = table(place, runs)
    document = expect(place.run("backtest", file, "--ranking", "--json", "--no-store"), 0).json()
    has_fields(document, {"rows": int, "groups": list, "knob_pairs": int, "knobs": list, "knob_scores": list, "ran": int, "said_not_to_fit": int,
                          "targets": list})
    check(document["rows"] == 3 and document["knob_pairs"] == 3, f"{document}")
    check([(each["same_count"], each["groups"], each["pairs"]) for each in document["groups"]] == [(True, 1, 3), (False, 1, 3)], f"{document['groups']}")
    check([each["by"] for each in document["groups"][0]["scores"]] == ["prediction", "order", "roofline"], f"{document['groups']}")
    check(document["groups"][0]["scores"][1]["in_order"] == 1, "the largest micro-batch is not put first by the order of settings")
    check([each["knob"] for each in document["knobs"]] == ["micro_batch_per_gpu"], f"{document['knobs']}")
    text = expect(place.run("backtest", file, "--ranking", "--no-store"), 0).out
    for part in ("ranking of 3 published runs", "as many GPUs: 1 groups", "what one knob buys: 3 pairs", "targets"):
        check(part in text, f"'{part}' is not in\n{text}")


def test_runs_found_later():
    """Every row of the tables that came later is a scenario or has a reason, and every rule of them is about rows."""
    place = Place()
    with open(SHIPPED, newline="") as file:
        known = {row["id"] for row in csv.DictReader(file)}
    for name in ("later", "third"):
        folder = SOURCE / "assets/backtest" / name
        table_of_name = folder / f"{name}_runs.csv"
        with open(table_of_name, newline="") as file:
            ids = [row["id"] for row in csv.DictReader(file)]
        check(not known & set(ids), f"a row of {name} is in another table")
        known |= set(ids)
        for row in ids[::40]:
            text = expect(place.run("backtest", table_of_name, "--more-rules", folder, "--row", row), 0).out
            check("parallel:" in text or "# not expressible" in text, text)


def test_tables_that_are_none():
    place = Place()
    expect_error(place.run("backtest", table(place, drop=("gpu", "id"))), 2, "gpu: this column is missing")
    expect_error(place.run("backtest", table(place, [{**RUNS[0], "n_gpus": "eight"}])), 2, "runs.csv:2: n_gpus: 'eight' is no number")
    expect_error(place.run("backtest", table(place, [{**RUNS[0], "seq_lens": 8}])), 2, "did you mean 'seq_len'")
    for content, what in (("", "is empty"), ("id,gpu\n\"x", "never closed"), ("id\nx,y\n", "2 fields, but there are 1 columns")):
        file = place.path / "broken.csv"
        file.write_text(content)
        expect_error(place.run("backtest", file), 2, what)
    for file in (place.path, place.path / "none.csv"):
        expect_error(place.run("backtest", file), 2, "")
    expect_error(place.run("backtest", "--metric", "speed"), 2, "unknown metric 'speed'")


def test_rules_that_are_none():
    place = Place()
    rules = place.path / "rules"
    rules.mkdir()
    expect_error(place.run("backtest", "--rules", rules), 2, "has no rules")
    (rules / "own.yaml").write_text("- {rule: one, when: {id: titan-2506-8b-h200-n32-fp8}, refuse: x, because: x, source: x}\n")
    expect_error(place.run("backtest", "--rules", rules), 2, "one: matches a single row of")
    (rules / "own.yaml").write_text("- {rule: one, refuse: x, because: x}\n")
    expect_error(place.run("backtest", "--rules", rules), 2, "'source' is missing")


main(globals())
