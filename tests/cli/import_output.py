"""`import`: traces of torch.profiler as runs of the database, and files that are none."""
# processors: 1

import gzip
import json

from _shardlab import SOURCE, Place, check, expect, expect_error, main

TRACES = SOURCE / "tests" / "data" / "profiler"


def test_two_ranks_are_one_measured_run():
    place = Place()
    document = expect(place.run("import", TRACES / "cuda_rank0.json", TRACES / "cuda_rank1.json", "--json"), 0).json()
    check(document["kind"] == "measured" and document["run_id"] == "r1", f"{document}")
    check(document["step_time_ns"] == {"median": 424000, "min": 424000, "max": 424000, "n": 2}, document["step_time_ns"])
    check(document["exposed_communication_ns"] == 142500, document["exposed_communication_ns"])
    kinds = {each["kind"]: each["bytes"] for each in document["communication"]}
    check(kinds == {"AllGather": 2048, "ReduceScatter": 2048}, kinds)
    check(document["memory"]["peak_allocated"] == 8000, document["memory"])
    check(any("tokens" in each for each in document["leaves_out"]), document["leaves_out"])
    entry = expect(place.run("history", "--json"), 0).json()["runs"][0]
    check(entry["ranks"] == 2 and entry["name"] == "cuda_rank0" and entry["strategy"] == "profiler", f"{entry}")
    check(entry["tags"] == ["imported"], f"{entry}")


def test_gloo_under_fsdp2():
    place = Place()
    document = expect(place.run("import", TRACES / "gloo_fsdp2_rank0.json.gz", TRACES / "gloo_fsdp2_rank1.json.gz", "--json"), 0).json()
    totals = {each["kind"]: (each["count"], each["bytes"]) for each in document["communication"]}
    check(totals == {"AllGather": (5, 4 * (4 * 10304 + 4128)), "AllReduce": (3, 4 * (2 * 10304 + 4128))}, f"{totals}")
    check(document["exposed_communication_ns"] > 0 and document["memory"]["peak_allocated"] > 0, f"{document}")
    check(document["memory"]["by_class"] is None, f"classes that no profiler knows: {document['memory']['by_class']}")
    check(any("before the profile began" in each for each in document["leaves_out"]), document["leaves_out"])


def test_what_is_unknown_is_no_zero():
    place = Place()
    # The same without the shapes that record_shapes=True keeps.
    whole = json.loads(gzip.decompress((TRACES / "gloo_fsdp2_rank0.json.gz").read_bytes()))
    for event in whole["traceEvents"]:
        event["args"].pop("Input Dims", None)
    (place.path / "bare.json").write_text(json.dumps(whole))
    shown = expect(place.run("import", place.path / "bare.json"), 0)
    lines = [line for line in shown.out.splitlines() if "AllGather" in line]
    check(lines and "unknown" in lines[0] and "0 B" not in lines[0], "the bytes are shown", shown)
    document = expect(place.run("show", "last", "--json"), 0).json()
    check(all(each["bytes"] is None and each["sent"] is None for each in document["communication"]), document["communication"])
    check(document["tokens_per_second"] is None and document["tokens_per_second_per_gpu"] is None and document["mfu"] is None, f"{document}")
    check(any("record_shapes" in each for each in document["leaves_out"]), document["leaves_out"])
    entry = expect(place.run("history", "--json"), 0).json()["runs"][0]
    check(entry["tokens_per_second"] is None, f"{entry}")


def test_a_prediction_beside_an_import():
    """What a trace does not say is neither nothing nor gone."""
    place = Place()
    shown = expect(place.run("import", TRACES / "gloo_fsdp2_rank0.json.gz", TRACES / "gloo_fsdp2_rank1.json.gz"), 0)
    check("workspace" not in shown.out and "memory at the peak" not in shown.out, "bytes without a class have one", shown)
    expect(place.run("simulate", place.scenario()), 0)
    for order in (("r2", "r1"), ("r1", "r2")):
        done = expect(place.run("diff", *order), 0)
        check("memory at the peak" in done.out and "parameter shard" in done.out, "the prediction's classes are not shown", done)
        for line in done.out.splitlines():
            words = line.split()
            check("gone" not in words and "new" not in words, f"what is unknown is said to be gone: {line}")
            check(not any(first == "0" and second in ("B", "ns") for first, second in zip(words, words[1:])), f"what is unknown is 0: {line}")
    document = expect(place.run("diff", "r2", "r1", "--json"), 0).json()
    for row in document["difference"]["memory"]:
        check(row["first"] is not None and row["second"] is None and row["in_words"] == "-", f"{row}")


# name -> what is said in a sentence, and settings with how sure they are
SEEN = {
    "plan_fsdp2": ("FSDP2 of a 6-layer Llama, 13 gathers a step",
                   {"parallel.strategy": ("fsdp2", "named"), "parallel.reshard_after_forward": ("true", "counted"),
                    "parallel.wrap.classes": ("[LlamaDecoderLayer]", "counted"), "cluster.gpus_per_node": ("2", "counted"),
                    "train.optimizer": ("adamw", "named")}),
    "plan_fsdp2_kept": ("FSDP2 of a 3-layer Llama, 8 gathers a step of 2 micro-batches",
                        {"parallel.reshard_after_forward": ("false", "counted"), "train.accumulation": ("2", "counted"),
                         "train.sync": ("last", "counted"), "precision.param": ("bfloat16", "counted"),
                         "precision.reduce": ("float32", "counted")}),
    "plan_fsdp1": ("FSDP1 of a 4-layer Llama, 9 gathers a step",
                   {"parallel.strategy": ("fsdp1", "named"), "parallel.sharding": ("full_shard", "counted")}),
    "plan_fsdp1_grad_op": ("FSDP1 of a 4-layer Llama, 5 gathers a step", {"parallel.sharding": ("shard_grad_op", "counted")}),
    "plan_ddp": ("DDP of a 3-layer Llama, 1 all-reduce a step", {"parallel.strategy": ("ddp", "named"), "model.dtype": ("float32", "counted")}),
    "plan_zero1": ("ZeRO-1 or 2 of a 3-layer Llama, 3 all-reduces a step",
                   {"parallel.strategy": ("zero2", "guessed"), "precision.param": ("bfloat16", "counted")}),
    "plan_zero3": ("ZeRO-3 of a 3-layer Llama, 1 gather a step", {"parallel.strategy": ("zero3", "named")}),
}


def test_the_plan_that_a_trace_shows():
    place = Place()
    for name, (words, settings) in SEEN.items():
        shown = expect(place.run("import", TRACES / f"{name}.json.gz"), 0)
        check(f"what the trace shows: {words}\n" in shown.out, f"{name}: not '{words}'", shown)
        document = expect(place.run("import", TRACES / f"{name}.json.gz", "--json"), 0).json()
        check(document["seen_plan"]["words"] == words, document["seen_plan"])
        said = {each["key"]: (each["value"], each["sure"]) for each in document["seen_plan"]["settings"]}
        for key, expected in settings.items():
            check(said.get(key) == expected, f"{name}: {key} is {said.get(key)}, not {expected}")
    entry = expect(place.run("history", "--json"), 0).json()["runs"][0]
    check("ZeRO-3 of a 3-layer Llama" in entry["note"], f"{entry}")
    # Nobody's marks: nothing is guessed.
    check(expect(place.run("import", TRACES / "cpu_two_steps.json.gz", "--json"), 0).json()["seen_plan"] is None, "a plan out of nothing")


def test_a_scenario_of_what_a_trace_shows():
    place = Place()
    base = place.scenario(strategy="ddp")
    for name, strategy in (("plan_fsdp2_kept", "fsdp2"), ("plan_fsdp1_grad_op", "fsdp1"), ("plan_ddp", "ddp"), ("plan_zero3", "zero3")):
        file = place.path / f"{name}.yaml"
        shown = expect(place.run("import", TRACES / f"{name}.json.gz", "--onto", base, "-o", file), 0)
        check("seen" in shown.out and "parallel.strategy" in shown.out, "it does not say what it saw", shown)
        plan = expect(place.run("plan", file, "--json"), 0).json()
        check(plan["strategy"] == strategy, f"{name}: {plan['strategy']}")
    written = (place.path / "plan_fsdp2_kept.yaml").read_text()
    for setting in ("reshard_after_forward: false", "accumulation: 2", "sync: last", "param: bfloat16", "reduce: float32", "ranks: 2"):
        check(setting in written, f"'{setting}' is missing:\n{written}")
    check(not place.db.exists(), "a scenario was stored as a run")
    expect_error(place.run("import", TRACES / "cpu_two_steps.json.gz", "--onto", base), 2, "no marks")
    for given in (("-o", place.path / "x.yaml"), ("--set", "train.accumulation=2")):
        expect_error(place.run("import", TRACES / "plan_ddp.json.gz", *given), 2, "is for a scenario")


def test_the_run_is_one_like_others():
    place = Place()
    expect(place.run("import", TRACES / "cpu_two_steps.json.gz", "--name", "mine"), 0)
    expect(place.run("import", TRACES / "cuda_rank0.json"), 0)
    for command in (["show", "mine"], ["history"], ["trace", "last"], ["diff", "r1", "r1"]):
        expect(place.run(*command), 0)
    check("tokens per second" not in expect(place.run("show", "mine"), 0).out, "rates that nobody knows are shown")
    # Two plans: what needs no common instructions is compared, nothing is judged.
    compared = expect(place.run("diff", "r1", "r2"), 0).out
    check("time by kind" in compared and "AllGather" in compared and "verdict" not in compared, f"{compared}")
    # A trace that shardlab wrote comes from a run that is there already.
    written = place.path / "ours.json"
    expect(place.run("trace", "r1", "-o", written), 0)
    expect_error(place.run("import", written), 2, "a trace that shardlab wrote")


def test_files_that_are_none():
    place = Place()
    whole = (TRACES / "cuda_rank0.json").read_bytes()
    files = {
        "empty.json": (b"", "is empty"),
        "letter.json": (b"Dear reader", "is no JSON"),
        "config.json": (b'{"model_type": "llama"}', "is no file of a tool that import knows"),
        "cut.json": (whole[: len(whole) // 2], "ends in the middle"),
        "cut.json.gz": (gzip.compress(whole)[:-200], "ends before its packed content does"),
        "latin.json": ('[{"name": "caf\u00e9"}]'.encode("latin-1"), "is no JSON"),
        "deep.json": (b'{"traceEvents":' + b"[" * 200000, "t"),
        "nothing.json": (json.dumps({"traceEvents": [{"ph": "M", "name": "x"}]}).encode(), "no kernels and no operators"),
    }
    for name, (content, message) in files.items():
        (place.path / name).write_bytes(content)
        expect_error(place.run("import", place.path / name), 2, name, message)
    expect_error(place.run("import", place.path), 2, "is a folder")
    expect_error(place.run("import", place.path / "none.json"), 2, "none.json")
    expect_error(place.run("import"), 2, "file")
    check(not place.db.exists(), "a database was made for nothing")


main(globals())
