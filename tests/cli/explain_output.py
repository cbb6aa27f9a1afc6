"""`explain memory`: sums and products that can be done again, gains that simulating gives too, wrong input.

`explain WORD`: every word of the glossary with what shows it; docs/glossary.md is what the program prints.
"""
# processors: 1

import math
import re

from _shardlab import SOURCE, Place, check, check_fields, expect, expect_error, main

LLAMA = SOURCE / "scenarios/first/llama3-8b-fsdp2-8xh100.yaml"
DOCUMENT = {"scenario": "text", "peak": "map", "step_time_ns": "int", "tokens_per_second": "number", "sum": "map", "rows": "list",
            "model_states": "int", "settings": "list", "other_tools": "list"}
PEAK = {"id": "int", "label": "text", "words": "text", "rank": "int"}
SUM = {"lines": "list", "limit": "int?", "margin": "int?", "fits": "text?"}
LINE = {"name": "text", "bytes": "int", "role": "text", "note": "text"}
ROW = {"bytes": "int", "what": "text", "class": "text", "buffers": "int", "since": "text", "since_id": "int?", "settings": "list",
       "parts": "list"}
PART = {"bytes": "int", "what": "text", "operator": "text?", "formula": "text", "products": "list"}
SETTING = {"setting": "text", "effect": "text", "gain": "int", "peak_allocated": "int", "peak_device": "int?", "step_time_ns": "int",
           "tokens_per_second": "number", "fits": "text?", "comparison": "bool"}
TOOL = {"tool": "text", "bytes": "int?", "formula": "text", "source": "text"}


def product_of(factors):
    for factor in factors:
        check_fields(factor, {"value": "int", "name": "text"}, "factor")
    return math.prod(factor["value"] for factor in factors)


def check_sum(lines):
    so_far = 0
    for line in lines:
        check_fields(line, LINE, "line")
        if line["role"] == "part":
            so_far += line["bytes"]
        else:
            check(line["role"] == "sum" and line["bytes"] == so_far, f"{line} is not {so_far}")


def check_rows(rows):
    for row in rows:
        check_fields(row, ROW, "row")
        for part in row["parts"]:
            check_fields(part, PART, "part")
            total = 0
            for product in part["products"]:
                above, below = product_of(product["factors"]), product_of(product["divisors"])
                check(above % below == 0, f"{part['formula']} leaves a remainder")
                total += above // below
            check(total == part["bytes"], f"{part['formula']} is {total}, not {part['bytes']}")
        check(sum(part["bytes"] for part in row["parts"]) == row["bytes"], f"the parts of '{row['what']}' are not the row", row)


def check_document(document):
    for value, fields in ((document, DOCUMENT), (document["peak"], PEAK), (document["sum"], SUM)):
        check_fields(value, fields)
    check_sum(document["sum"]["lines"])
    check_rows(document["rows"])
    check(sum(row["bytes"] for row in document["rows"]) == document["sum"]["lines"][0]["bytes"], "the rows are not the peak")
    for setting in document["settings"]:
        check_fields(setting, SETTING, "setting")
    known = {setting["setting"] for setting in document["settings"]}
    check(all(set(row["settings"]) <= known for row in document["rows"]), "a row names a setting that is not listed")
    for tool in document["other_tools"]:
        check_fields(tool, TOOL, "tool")
        check(tool["formula"] and tool["source"], f"{tool} says nothing")


def explain(place, *arguments):
    return expect(place.run("explain", "memory", *arguments, "--json"), 0).json()


def test_rows_and_sums_of_every_strategy():
    place = Place()
    teacher = ("distillation: {teacher: {config: tiny-llama, overrides: {num_hidden_layers: 1}, parallel: {strategy: fsdp2}}, "
               "temperature: 2}\n")
    cases = [(place.scenario(name=strategy, strategy=strategy, ranks=1 if strategy == "none" else 2), [])
             for strategy in ("none", "ddp", "fsdp1", "fsdp2", "native")]
    cases += [(place.scenario(name="distilled", extra=teacher), [])]
    plain = place.scenario()
    cases += [(plain, [setting]) for setting in ("activation.checkpoint=full", "model.lora={rank: 4, targets: [all-linear]}",
                                                 "train.accumulation=2", "train.optimizer_implementation=foreach",
                                                 "cluster.threads_per_rank=2", "train.micro_batch=3")]
    for file, settings in cases:
        sets = [word for setting in settings for word in ("--set", setting)]
        document = explain(place, file, *sets)
        check_document(document)
        simulated = expect(place.run("simulate", file, *sets, "--json", "--no-store"), 0).json()
        check(document["sum"]["lines"][0]["bytes"] == simulated["memory"]["peak_allocated"], f"{file} {settings}: another peak")
        check(document["peak"]["label"] == simulated["memory"]["peak_label"], "another instruction")
        check(document["step_time_ns"] == simulated["step_time_ns"]["median"], "another step")
        check(document["settings"], f"{file} {settings}: nothing would lower it")


def test_a_gpu_is_reckoned_up_to_its_limit():
    place = Place()
    document = explain(place, LLAMA)
    check_document(document)
    simulated = expect(place.run("simulate", LLAMA, "--json", "--no-store"), 0).json()
    lines = {line["name"]: line for line in document["sum"]["lines"]}
    check(lines["reserved by the allocator"]["bytes"] == simulated["memory"]["peak_reserved"], f"{lines}")
    check(lines["in use on the device"]["bytes"] == simulated["memory"]["peak_device"], f"{lines}")
    for row in simulated["memory"]["overheads"]:
        check((row["name"] in lines) == (row["where"] != "host"), f"{row['name']} in {list(lines)}")
    check(document["sum"]["limit"] == simulated["memory_limit"] and document["sum"]["fits"] == simulated["fits"], f"{document['sum']}")
    shards = next(row for row in document["rows"] if row["what"] == "parameter shards of 32 layers")
    check(shards["parts"][0]["formula"] == "4 bytes x 218,112,000 parameters x 32 layers / 8 ranks", f"{shards}")
    tools = {tool["tool"]: tool for tool in document["other_tools"]}
    check(tools["DeepSpeed, ZeRO-3"]["bytes"] == 4 * 525336576 + 18 * 8030261248 // 8, f"{tools}")
    check(tools["accelerate estimate-memory"]["bytes"] is None, f"{tools}")


def test_a_gain_is_that_of_simulating_with_the_setting():
    place = Place()
    for file, sets, figure in ((LLAMA, [], "peak_device"), (LLAMA, ["--set", "train.micro_batch=2", "--set", "parallel.strategy=fsdp1"], "peak_device"),
                               (place.scenario(strategy="ddp"), [], "peak_allocated")):
        before = expect(place.run("simulate", file, *sets, "--json", "--no-store"), 0).json()
        settings = explain(place, file, *sets)["settings"]
        check(len(settings) >= 3, f"{settings}")
        gains = [each["gain"] for each in settings if not each["comparison"]]
        check([each["comparison"] for each in settings] == sorted(each["comparison"] for each in settings), f"{settings}: a comparison is not last")
        check(gains == sorted(gains, reverse=True) and gains[-1] > 0, f"{gains}")
        for each in settings:
            after = expect(place.run("simulate", file, *sets, "--json", "--no-store", "--set", each["setting"]), 0).json()
            check(each["gain"] == before["memory"][figure] - after["memory"][figure], f"{each} is not that of --set")
            for name in ("peak_allocated", "peak_device"):
                check(each[name] == after["memory"][name], f"{each}: {name} is {after['memory'][name]}")
            check(each["step_time_ns"] == after["step_time_ns"]["median"] and each["fits"] == after["fits"], f"{each}")


def test_what_does_not_fit_says_by_how_much():
    place = Place()
    result = expect(place.run("explain", "memory", place.scenario(), "--set", "cluster.memory_limit=64KiB"), 0)
    check("does not fit: " in result.out and "too much" in result.out, "no verdict", result)
    check("does not fit" in result.err, "no note", result)


def test_text():
    place = Place()
    text = expect(place.run("explain", "memory", LLAMA), 0).out
    for part in ("memory of rank 0 at its highest: in backward of the head", "+  cuBLAS workspaces", "=  in use on the device",
                 "2 bytes x 4,096 tokens x 14,336 feed-forward x 32 layers", "activation.checkpoint=full", "DeepSpeed, ZeRO-3",
                 "knows no sharding"):
        check(part in text, f"'{part}' is missing", text)
    check(not place.db.exists(), "explaining made a database")


def test_wrong_input():
    place = Place()
    expect_error(place.run("explain"), 2, "what is to be explained is missing", "explain memory SCENARIO")
    expect_error(place.run("explain", "memory", "a.yaml", "b.yaml"), 2, "takes one scenario")
    expect_error(place.run("explain", "memory"), 2, "scenario is required")
    expect_error(place.run("explain", "memory", "nowhere.yaml"), 2, "nowhere.yaml")
    expect_error(place.run("explain", "memory", place.scenario(), "--set", "train.micro_batch=0"), 2, "train.micro_batch")


WORDS = SOURCE / "scenarios/lessons/words/words.yaml"


def names():
    for found in re.finditer(r"- word: (.*)", WORDS.read_text()):
        yield [name.strip(" '\"") for name in found.group(1).strip("[]").split(",")]


def test_the_glossary_is_what_the_program_prints():
    printed = expect(Place().run("explain", "--document"), 0).out
    check(printed == (SOURCE / "docs/glossary.md").read_text(), "write `shardlab explain --document` to docs/glossary.md")


def test_every_word_is_shown():
    place, words = Place(), list(names())
    check(len(words) > 40, f"{len(words)} words")
    for each in words:
        document = expect(place.run("explain", *each[0].split(), "--json"), 0).json()
        check_fields(document, {"words": "list", "meaning": "text", "picture": "text", "lessons": "list"})
        check(document["words"] == each and document["meaning"], document)
        check(len(document["picture"].splitlines()) >= 3, f"nothing shows {each[0]}", document["picture"])
    check(not place.db.exists(), "explaining made a database")


def test_a_word_names_its_lessons():
    place = Place()
    text = expect(place.run("explain", "Reduce-Scatter"), 0).out
    check(text.startswith("reduce-scatter: all ranks' tensors are added") and "ReduceScatter" in text, text)
    check(re.search(r"^lesson 0\d: ", text, re.MULTILINE), text)
    check(expect(place.run("explain", "all-gather"), 0).out == expect(place.run("explain", "gather"), 0).out, "two names of one word")


ASKED = ("ddp", "fsdp", "fsdp2", "zero", "zero-3", "hsdp", "nccl", "overlap", "lora", "distillation", "optimizer", "bf16", "mixed precision",
         "gradient accumulation", "activation checkpointing", "allgather", "reduce scatter", "mfu")


def test_words_as_people_write_them():
    place = Place()
    for word in ASKED:
        check(expect(place.run("explain", word), 0).out, word)
    for theirs, ours in (("HSDP", "hybrid sharding"), ("zero 3", "ZeRO"), ("AllGather", "gather, all-gather"), ("gradient checkpointing", "activation checkpointing")):
        check(expect(place.run("explain", theirs), 0).out.startswith(f"{ours}: "), theirs)
    document = WORDS.read_text()
    names = [plain(name) for found in re.findall(r"(?:word|also): (.*)", document) for name in found.strip("[]").split(",")]
    check(len(names) == len(set(names)), f"a name of two words: {sorted(name for name in names if names.count(name) > 1)}")


def plain(name):
    return re.sub("[-_ '\"]", "", name).lower()


def test_bad_input():
    place = Place()
    expect_error(place.run("explain", "reduce-scater"), 2, "'reduce-scater' is no word of the glossary", "did you mean 'reduce-scatter'?")
    expect_error(place.run("explain", "gradient", "clipping"), 2, "near it: accumulation, activation checkpointing")
    expect_error(place.run("explain", "tflops"), 2, "near it: model FLOPs")
    expect_error(place.run("explain", "warp", "drive"), 2, "'warp drive' is no word of the glossary", "explain --document")
    expect_error(place.run("explain", "rank", "--document"), 2, "--document")
    expect_error(place.run("explain", "rank", "--set", "train.micro_batch=2"), 2, "a word has no settings")


main(globals())
