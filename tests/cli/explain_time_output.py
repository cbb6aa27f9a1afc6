"""`explain time`: rows that add up to the step, gains that simulating gives too, every strategy, wrong input."""
# processors: 1

from _shardlab import SOURCE, Place, check, check_fields, expect, expect_error, main

LLAMA = SOURCE / "scenarios/first/llama3-8b-fsdp2-8xh100.yaml"
DOCUMENT = {"scenario": "text", "rank": "int", "step_time_ns": "int", "exposed_communication_ns": "int", "tokens_per_second": "number",
            "parts_ns": "map", "rows": "list", "operators": "list", "peak": "int", "fits": "text?", "settings": "list"}
ROW = {"time_ns": "int", "part": "text", "what": "text", "pieces": "int", "longest_id": "int", "longest_ns": "int", "after": "text?"}
OPERATOR = {"operator": "text", "backward": "bool", "calls": "int", "time_ns": "int"}
SETTING = {"settings": "list", "effect": "text", "step_time_ns": "int", "exposed_communication_ns": "int", "tokens_per_second": "number",
           "peak": "int", "fits": "text?", "comparison": "bool"}


def explain(place, *arguments):
    document = expect(place.run("explain", "time", *arguments, "--json"), 0).json()
    check_fields(document, DOCUMENT)
    for name, fields in (("rows", ROW), ("operators", OPERATOR), ("settings", SETTING)):
        for each in document[name]:
            check_fields(each, fields, name)
    rows = document["rows"]
    check(sum(row["time_ns"] for row in rows) == document["step_time_ns"], "the rows are not the step", document)
    check(sum(document["parts_ns"].values()) == document["step_time_ns"], "the parts are not the step", document)
    check([row["time_ns"] for row in rows] == sorted((row["time_ns"] for row in rows), reverse=True), "not by time", document)
    for row in rows:
        check(0 < row["longest_ns"] <= row["time_ns"] <= row["pieces"] * row["longest_ns"], f"{row}")
        check((row["after"] is not None) == (row["part"] == "communication"), f"{row}")
    return document


def simulated(place, file, *sets):
    return expect(place.run("simulate", file, *sets, "--json", "--no-store"), 0).json()


def settings_of(texts):
    return [word for text in texts for word in ("--set", text)]


def test_the_path_of_every_strategy_is_the_step():
    place = Place()
    cluster = "{gpu: H100-SXM, gpus_per_node: 2}"
    cases = [(place.scenario(name=strategy, strategy=strategy, ranks=1 if strategy == "none" else 2), [])
             for strategy in ("none", "ddp", "fsdp1", "fsdp2", "native", "zero1", "zero2", "zero3")]
    cases += [(file, [f"cluster={cluster}"]) for file, _ in cases[1:]]
    cases += [(cases[3][0], ["train.accumulation=2"]), (cases[3][0], [f"cluster={cluster}", "offload.parameters=cpu"])]
    for file, texts in cases:
        sets = settings_of(texts)
        document = explain(place, file, *sets)
        before = simulated(place, file, *sets)
        check(document["step_time_ns"] == before["step_time_ns"]["median"], f"{file} {sets}: another step", document)
        check(document["exposed_communication_ns"] == before["exposed_communication_ns"], f"{file} {sets}: otherwise exposed", document)


def test_what_a_step_of_llama_is_made_of():
    document = explain(Place(), LLAMA)
    words = [row["what"] for row in document["rows"]]
    check(words[:2] == ["backward of 32 layers", "forward of 32 layers"], f"{words}")
    products = [each for each in document["operators"] if each["operator"] == "linear"]
    check({(each["backward"], each["calls"]) for each in products} == {(False, 225), (True, 225)}, f"{products}")


def test_a_host_that_is_too_slow_is_seen():
    sets = settings_of(["model.config=gpt2", "model.overrides={vocab_size: 50304}", "model.sequence_length=128", "parallel.wrap={policy: transformer}"])
    document = explain(Place(), LLAMA, *sets)
    parts = document["parts_ns"]
    check(parts["host"] > parts["computation"], f"{parts}")
    check(document["rows"][0]["what"] == "work of the host alone: launches, hooks", f"{document['rows'][0]}")


def test_a_gain_is_that_of_simulating_with_the_settings():
    place = Place()
    several = ["--set", "cluster={node: dgx-h100, nodes: 2}", "--set", "train.accumulation=4", "--set", "activation.checkpoint=full"]
    for file, sets in ((LLAMA, []), (LLAMA, several), (place.scenario(strategy="fsdp1"), [])):
        document = explain(place, file, *sets)
        found = document["settings"]
        check(found, f"{file} {sets}: nothing would make it faster")
        speeds = [each["tokens_per_second"] for each in found if not each["comparison"]]
        check([each["comparison"] for each in found] == sorted(each["comparison"] for each in found), f"{found}: a comparison is not last")
        check(speeds == sorted(speeds, reverse=True) and speeds[-1] > document["tokens_per_second"], f"{speeds}")
        for each in found:
            after = simulated(place, file, *sets, *settings_of(each["settings"]))
            check(after["step_time_ns"]["median"] == each["step_time_ns"], f"{each}: {after['step_time_ns']}")
            check(after["tokens_per_second"] == each["tokens_per_second"], f"{each}: {after['tokens_per_second']}")
            check(after["exposed_communication_ns"] == each["exposed_communication_ns"], f"{each}")
            memory = after["memory"]
            check((memory["peak_device"] or memory["peak_allocated"]) == each["peak"] and after["fits"] == each["fits"], f"{each}")
    both = [each["settings"] for each in explain(place, LLAMA, *several)["settings"]]
    check(["train.micro_batch=2", "train.accumulation=2"] in both, f"{both}")


def test_text():
    text = expect(Place().run("explain", "time", LLAMA), 0).out
    for part in ("a steady step of rank 0: ", "the critical path: computation ", "backward of 32 layers", "linear, backward",
                 "settings that would make it faster, each predicted alone (now ", "parallel.reshard_after_forward=false"):
        check(part in text, f"'{part}' is missing", text)


def test_wrong_input():
    place = Place()
    expect_error(place.run("explain", "time"), 2, "scenario is required")
    expect_error(place.run("explain", "time", LLAMA, LLAMA), 2, "takes one scenario")
    expect_error(place.run("explain", "time", "there-is-none.yaml"), 2, "there-is-none.yaml")


main(globals())
