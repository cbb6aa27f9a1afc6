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
