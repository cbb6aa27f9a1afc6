"""`plan`: text, JSON, its other forms, and that its hash is stable."""
# processors: 1

from _shardlab import SOURCE, Place, check, check_fields, expect, expect_error, main

PLAN_FIELDS = {"scenario": "text", "phase": "text", "strategy": "text", "plan_hash": "text", "run_hash": "text", "world_size": "int",
               "rank": "int", "micro_batches": "int", "carried_bytes": "int", "units": "list", "segments": "list", "streams": "list",
               "warnings": "list", "buffers": "list", "instructions": "list"}
UNIT_FIELDS = {"name": "text", "modules": "list", "class": "text", "elements": "int", "padded_elements": "int",
               "gathered_bytes": "int", "parameters": "list", "segments": "list"}
SEGMENT_FIELDS = {"name": "text", "unit": "text", "operators": "list", "forward_peak_bytes": "int", "backward_peak_bytes": "int"}
BUFFER_FIELDS = {"name": "text", "class": "text", "dtype": "text", "elements": "int", "bytes": "int", "stream": "text",
                 "unit": "text?", "carried": "bool", "kept": "bool"}
INSTRUCTION_FIELDS = {"id": "int", "stream": "text", "kind": "text", "unit": "text?", "segment": "text?", "micro_batch": "int?",
                      "group": "list?", "reduce": "text?", "bytes": "int", "dtype": "text?", "reads": "list", "writes": "list",
                      "allocates": "list", "frees": "list", "waits": "list", "pass": "text"}


def test_fields_and_their_types():
    place = Place()
    for strategy, ranks in (("fsdp2", 2), ("ddp", 2), ("none", 1)):
        document = expect(place.run("plan", place.scenario(strategy=strategy, ranks=ranks), "--json"), 0).json()
        check_fields(document, PLAN_FIELDS)
        for name, fields in (("units", UNIT_FIELDS), ("segments", SEGMENT_FIELDS), ("buffers", BUFFER_FIELDS),
                             ("instructions", INSTRUCTION_FIELDS)):
            check(document[name], f"no {name}")
            for element in document[name]:
                check_fields(element, fields, name)


def test_names_and_numbers_refer_to_what_is_there():
    place = Place()
    document = expect(place.run("plan", place.scenario(), "--json"), 0).json()
    buffers = {buffer["name"] for buffer in document["buffers"]}
    units = {unit["name"] for unit in document["units"]}
    for index, instruction in enumerate(document["instructions"]):
        check(instruction["id"] == index, "ids do not count from 0")
        check(instruction["stream"] in document["streams"], f"unknown stream in {instruction}")
        check(instruction["unit"] is None or instruction["unit"] in units, f"unknown unit in {instruction}")
        for field in ("reads", "writes", "allocates", "frees"):
            check(set(instruction[field]) <= buffers, f"unknown buffer in {instruction}")
        check(all(wait < index for wait in instruction["waits"]), f"waits for a later one: {instruction}")


def test_fsdp2_gathers_and_reduces_every_unit():
    place = Place()
    document = expect(place.run("plan", place.scenario(), "--json"), 0).json()
    check([unit["name"] for unit in document["units"]] == ["root", "u0", "u1"], "units of a two-layer model")
    check(document["units"][1]["modules"] == ["model.layers.0"] and document["units"][1]["class"] == "LlamaDecoderLayer", "u0")
    by_kind = {}
    for instruction in document["instructions"]:
        by_kind.setdefault(instruction["kind"], []).append(instruction)
    check({i["unit"] for i in by_kind["AllGather"]} == {"root", "u0", "u1"}, "not every unit is gathered")
    check(sorted(i["unit"] for i in by_kind["ReduceScatter"]) == ["root", "u0", "u1"], "not every unit is reduced once")
    for instruction in by_kind["AllGather"]:
        unit = next(u for u in document["units"] if u["name"] == instruction["unit"])
        check(instruction["bytes"] == unit["gathered_bytes"] == 4 * unit["padded_elements"], f"bytes of {instruction}")
        check(instruction["group"] == [0, 1] and instruction["dtype"] == "float32", f"group of {instruction}")


def test_the_hash_says_what_matters():
    place = Place()
    scenario = place.scenario()

    def hash_of(*overrides, file=scenario, step="steady"):
        options = [part for override in overrides for part in ("--set", override)]
        return expect(place.run("plan", file, "--json", "--step", step, *options), 0).json()["plan_hash"]

    same = hash_of()
    check(hash_of() == same, "it differs between two runs")
    check(hash_of(file=place.scenario(name="renamed")) == same, "the name is part of it")
    check(hash_of("train.seed=7", "train.learning_rate=1e-2") == same, "seed and learning rate are part of it")
    check(hash_of("train.micro_batch=3") != same, "shapes are no part of it")
    check(hash_of("parallel.reshard_after_forward=false") != same, "the schedule is no part of it")
    check(hash_of(step="first") != same, "the first step equals the steady one")


def test_the_hash_is_the_same_on_every_machine():
    golden = {}
    for line in (SOURCE / "tests/data/plan_hashes.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, plan_hash, run_hash = line.split()
            golden[name] = (plan_hash, run_hash)
    check(len(golden) >= 3, "too few golden hashes")
    for name, expected in golden.items():
        document = expect(Place().run("plan", SOURCE / "scenarios" / name, "--json"), 0).json()
        check((document["plan_hash"], document["run_hash"]) == expected,
              f"{name}: the plan changed; when that is meant, write to tests/data/plan_hashes.txt:\n"
              f"{name} {document['plan_hash']} {document['run_hash']}")


def test_the_listing_is_the_same_every_time():
    place = Place()
    scenario = place.scenario()
    first = expect(place.run("plan", scenario), 0).out
    check(first == expect(place.run("plan", scenario), 0).out, "two listings differ")
    check(" AllGather " in first and " Forward " in first, "no instructions in the listing")


def test_a_listing_begins_with_what_it_lists():
    place = Place()
    scenario = place.scenario(extra="", strategy="fsdp2")
    text = expect(place.run("plan", scenario), 0).out
    head = [line for line in text.splitlines() if line.startswith("#")]
    document = expect(place.run("plan", scenario, "--json"), 0).json()
    gathers = [each for each in document["instructions"] if each["kind"] == "AllGather"]
    for part in (f"{len(document['instructions'])} instructions", "3 units: the model, layer 0 to layer 1", f"{len(gathers)} AllGather ",
                 "forward 0 to ", "backward ", "optimizer ", f"{len(document['buffers'])} buffers, which --buffers lists", document["plan_hash"]):
        check(part in "\n".join(head), f"'{part}' is missing: {head}")
    check(text.startswith("# tiny, steady step: fsdp2, 2 ranks") and "\nplan 1\n" in text and "\nbuffer " not in text, text[:1000])
    whole = expect(place.run("plan", scenario, "--buffers"), 0).out
    check(whole.count("\nbuffer ") == len(document["buffers"]), "all buffers")
    check([line for line in whole.splitlines() if not line.startswith(("#", "buffer "))] ==
          [line for line in text.splitlines() if not line.startswith("#")], "the rest is the same")


def test_steps():
    place = Place()
    scenario = place.scenario()
    texts = {step: expect(place.run("plan", scenario, "--step", step), 0).out for step in ("setup", "first", "steady", "0", "1", "99")}
    check(texts["0"] == texts["first"] and texts["1"] == texts["99"] == texts["steady"], "numbers do not name the steps")
    check(len({texts["setup"], texts["first"], texts["steady"]}) == 3, "steps are alike")
    expect_error(place.run("plan", scenario, "--step", "stedy"), 2, "--step", "did you mean 'steady'?")


def test_after_each_pass():
    place = Place()
    scenario = place.scenario()
    text = expect(place.run("plan", scenario, "--after-each-pass"), 0).out
    check(text.count("# after ") >= 2, "fewer than two passes")
    passes = expect(place.run("plan", scenario, "--after-each-pass", "--json"), 0).json()["passes"]
    check(len(passes) == text.count("# after "), "JSON shows other passes than the text")
    steady = expect(place.run("plan", scenario, "--json"), 0).json()
    check(passes[-1]["plan"]["plan_hash"] == steady["plan_hash"], "the last pass does not end in the plan")


def test_explain():
    place = Place()
    scenario = place.scenario()
    document = expect(place.run("plan", scenario, "--json"), 0).json()
    gather = next(i for i in document["instructions"] if i["kind"] == "AllGather")
    text = expect(place.run("plan", scenario, "--explain", gather["id"]), 0).out
    for part in ("AllGather", gather["stream"], gather["writes"][0], "ranks 0 1"):
        check(part in text, f"'{part}' is not explained:\n{text}")
    explanation = expect(place.run("plan", scenario, "--explain", gather["id"], "--json"), 0).json()["explanation"]
    check(explanation["instruction"] == gather["id"] and explanation["waits"] == gather["waits"], "another instruction")
    check(explanation["awaited_by"], "nobody waits for a gather")
    check(explanation["words"].startswith("all-gather of "), explanation["words"])
    by_name = expect(place.run("plan", scenario, "--explain", "AllGather", "--json"), 0).json()["explanation"]
    gathers = [i["id"] for i in document["instructions"] if i["kind"] == "AllGather"]
    check([by_name["instruction"], *by_name["others"]] == gathers, f"{by_name}")
    text = expect(place.run("plan", scenario, "--explain", "layer 1"), 0).out
    check("more of this name" in text and "backward of layer 1" in text, "the others are not named", text)
    expect_error(place.run("plan", scenario, "--explain", "layer 17"), 2, "--explain", "layer 17", "there are layer 0 to layer ")
    expect_error(place.run("plan", scenario, "--explain", "mlp of layer 1"), 2, "--explain", "'forward of layer 1', 'backward of layer 1'")
    expect_error(place.run("plan", scenario, "--explain", len(document["instructions"])), 2, "--explain", "no instruction")


def test_diff():
    place = Place()
    scenario = place.scenario()
    check("equal" in expect(place.run("plan", scenario, "--diff", place.scenario(name="twin")), 0).out, "equal plans differ")
    other = place.scenario(name="other", text=open(scenario, encoding="utf-8").read().replace("fsdp2}", "fsdp2, reshard_after_forward: false}"))
    text = expect(place.run("plan", scenario, "--diff", other), 1).out
    check(any(line.startswith(("+", "-")) for line in text.splitlines()), f"no difference shown:\n{text}")
    document = expect(place.run("plan", scenario, "--diff", other, "--json"), 1).json()
    check(document["equal"] is False and document["plan_hash"] != document["other_plan_hash"], "JSON says otherwise")


def test_dot():
    place = Place()
    text = expect(place.run("plan", place.scenario(), "--dot"), 0).out
    check(text.startswith("digraph ") and text.rstrip().endswith("}"), "no graph")
    check(text.count("{") == text.count("}"), "braces do not match")


def test_units():
    place = Place()
    text = expect(place.run("plan", place.scenario(), "--units"), 0).out
    for part in ("root", "u0", "u1", "model.layers.0"):
        check(part in text, f"'{part}' is not in the summary:\n{text}")


LLAMA_2_7B = """name: size
model: {config: llama-2-7b, sequence_length: 2048}
cluster: {node: hgx-h100, nodes: 1}
parallel: {strategy: fsdp2, wrap: {policy: size}}
precision: {param: bfloat16, reduce: float32}
"""


def test_units_that_are_alike_share_a_row():
    place = Place()
    text = expect(place.run("plan", place.scenario(text=LLAMA_2_7B), "--units", env=place.environment(COLUMNS="140")), 0).out
    rows = {line.split("  ")[0]: " ".join(line.split()) for line in text.splitlines()}
    check(rows["u0"].startswith("u0 model LlamaModel 2,147,749,888 2,147,749,888 4.00 GiB s1 s3"), text)
    check(rows["u2 .. u33 (32)"] == "u2 .. u33 (32) model.layers.*.mlp LlamaMLP 135,266,304 135,266,304 258 MiB", text)


def test_a_giant_unit_is_warned_of():
    place = Place()
    scenario = place.scenario(text=LLAMA_2_7B)
    warning = ("u0 is a giant unit: 2,147,749,888 parameters out of 32 layers, 31.9 % of the model. They are gathered at once and their "
               "4.00 GiB stay gathered during the whole forward of 'model', and again during its whole backward. With a unit for each "
               "layer (policy transformer) it is 386 MiB at a time")
    for form in ((), ("--units",)):
        result = expect(place.run("plan", scenario, *form), 0)
        check(result.err == f"warning: {warning}\n", f"the warning is {result.err}")
    check(place.run("plan", scenario, "--quiet").err == "", "--quiet warns")
    check(expect(place.run("plan", scenario, "--json"), 0).json()["warnings"] == [warning], "JSON warns otherwise")
    # Kept from forward to backward, and all of the model in one.
    kept = expect(place.run("plan", scenario, "--set", "parallel.reshard_after_forward=false"), 0).err
    check("stay gathered from the beginning of the forward of 'model' to the end of its backward" in kept, kept)
    whole = expect(place.run("plan", scenario, "--set", "parallel.wrap=none"), 0).err
    check("root is a giant unit: 6,738,415,616 parameters out of 32 layers, 100.0 % of the model" in whole, whole)
    # Nothing to warn of: a unit for each layer, units of single linears, and strategies that gather nothing.
    for change in ("parallel.wrap=transformer", "parallel.wrap={policy: size, min_params: 20M}"):
        check(expect(place.run("plan", scenario, "--set", change), 0).err == "", f"{change} is warned of")
    check(expect(place.run("plan", place.scenario(strategy="ddp")), 0).err == "", "ddp is warned of")


def test_forms_exclude_each_other():
    place = Place()
    expect_error(place.run("plan", place.scenario(), "--dot", "--units"), 2, "exclude each other")
    expect_error(place.run("plan", place.scenario(), "--rank", "2"), 2, "--rank")


main(globals())
