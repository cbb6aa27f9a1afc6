"""`search` and `recommend`: answers, what they equal, what is kept after a kill, and questions that have no answer."""
# processors: 1

import csv
import json
import os
import pathlib
import re
import shutil
import signal
import time

from _shardlab import Place, check, check_fields, expect, expect_error, main

GPT = """name: small-gpt
model: {config: gpt2, sequence_length: 256, overrides: {n_layer: 4, n_embd: 256, n_head: 4, vocab_size: 2048}}
cluster: {node: dgx-h100, nodes: 1}
parallel: {strategy: fsdp2}
train: {micro_batch: 2, accumulation: 4}
"""
OFFERS = """offers:
- {node: dgx-h100, nodes: [1, 2, 4], price: 30, date: "2026-01-01", source: a test}
- {node: dgx-a100, nodes: [1, 2, 4], price: 12, date: "2026-01-01", source: a test}
"""
VARY = """vary:
  train.micro_batch: [1, 2, 3, 4]
  parallel: [{strategy: fsdp2}, {strategy: ddp}, {strategy: fsdp1, sharding: shard_grad_op}]
  activation.checkpoint: [none, full]
"""
CANDIDATE = {"settings": "list", "gpus": "int", "nodes": "int", "node": "text?", "micro_batch": "int", "accumulation": "int", "changes": "int",
             "step_time_ns": "int", "tokens_per_second": "number", "mfu": "number?", "exposed_communication_ns": "int",
             "peak_allocated": "int", "peak_device": "int?", "memory_limit": "int?", "fits": "text?", "fit_probability": "number?",
             "hours": "number?", "dollars": "number?", "checkpoint_interval_hours": "number?"}
SPACE = {name: "int" for name in ("total", "refused", "indivisible", "bounded", "simulated", "open", "not_fitting", "unmet", "satisfying")}
DOCUMENT = {"search_id": "text", "scenario": "text", "objective": "text", "global_batch": "int?", "tokens": "int?", "space": "map",
            "refusals": "list", "answers": "list", "front": "list", "nearest": "list", "sensitivity": "list", "why": "map?", "timing": "map"}


def question(place, text, name="q", scenario=GPT):
    (place.path / "s.yaml").write_text(scenario)
    file = place.path / f"{name}.yaml"
    file.write_text("scenario: s.yaml\n" + text)
    return file


def lasting(document):
    """All that repeats to the byte."""
    return json.dumps({name: value for name, value in document.items() if name not in ("search_id", "timing")})


def answer_of(document):
    return json.dumps([document[name] for name in ("answers", "front", "nearest")])


def test_fields():
    place = Place()
    file = question(place, OFFERS + VARY + "keep: {global_batch: 64}\ntrain: {tokens: 1G}\nobjective: money\n")
    document = expect(place.run("search", file, "--json", "--why", "train.micro_batch=8"), 0).json()
    check_fields(document, DOCUMENT)
    check_fields(document["space"], SPACE, "space")
    check_fields(document["timing"], {"seconds": "number", "estimates_per_second_per_core": "number", "simulations_per_second_per_core": "number"})
    for name in ("answers", "front"):
        check(document[name], f"no {name}")
        for each in document[name]:
            check_fields(each, CANDIDATE, name)
    check([each["objective"] for each in document["answers"]] == ["time", "money", "gpus", "batch"], document["answers"])
    for each in document["sensitivity"]:
        check_fields(each, {"key": "text", "from": "text", "to": "text", "refused": "text", "satisfies": "bool", "prediction": "map?",
                            "gain_probability": "number?", "best_then": "map?", "untried": "int?"})
    space = document["space"]
    check(space["total"] == 6 * 4 * 3 * 2, f"{space}")
    check(space["total"] == sum(space[name] for name in ("refused", "indivisible", "bounded", "simulated", "open")), f"{space}")
    for each in document["answers"]:
        check(each["micro_batch"] * each["accumulation"] * each["gpus"] == 64, f"{each}")
        check(abs(each["dollars"] - each["hours"] * each["nodes"] * {"dgx-h100": 30, "dgx-a100": 12}[each["node"]]) < 1e-9, f"{each}")


def test_text():
    place = Place()
    file = question(place, OFFERS + VARY + "train: {tokens: 1G}\n")
    text = " ".join(expect(place.run("search", file), 0).out.split())
    for part in ("144 combinations of small-gpt", "global batch of 64 sequences", "at $30.00 an hour each (2026-01-01, a test)", "best for time",
                 "beaten in time, peak memory and money", "one knob a step away", "the best for time on other hardware at the same price",
                 "network twice as fast", "links in a node twice as fast", "with 99.0 GiB a rank it stays the best"):
        check(part in text, f"'{part}' is not in\n{text}")
    check("not dividing the batch" in text, text)


def test_figures_are_those_of_the_written_scenario():
    place = Place()
    file = question(place, OFFERS + VARY)
    result = expect(place.run("recommend", file, "-o", place.path / "best.yaml", "--json"), 0).json()
    best = result["answers"][0]["recommended"]
    run = expect(place.run("simulate", place.path / "best.yaml", "--no-store", "--json"), 0).json()
    check(run["step_time_ns"]["median"] == best["step_time_ns"], f"{run['step_time_ns']} and {best}")
    check(run["tokens_per_second"] == best["tokens_per_second"], f"{best}")
    check(run["memory"]["peak_allocated"] == best["peak_allocated"] and run["memory"]["peak_device"] == best["peak_device"], f"{best}")
    check(run["fit_probability"] == best["fit_probability"] and run["ranks"] == best["gpus"], f"{best}")
    check(best["hours"] is None and best["dollars"] is None, "hours without tokens")
    text = " ".join(expect(place.run("recommend", file), 0).out.split())
    for part in ("for time", "because", "risk", "runner-up", "the best of"):
        check(part in text, f"'{part}' is not in\n{text}")


def test_other_hardware_is_what_simulate_says_of_it():
    place = Place()
    file = question(place, OFFERS + VARY + "train: {tokens: 1G}\n")
    document = expect(place.run("search", file, "--json"), 0).json()
    best = document["answers"][0]
    rows = [row for row in document["sensitivity"] if row["key"].startswith("cluster.suppose.")]
    check([row["key"] for row in rows] == ["cluster.suppose." + name for name in ("memory", "inter_node", "intra_node")], f"{rows}")
    for row in rows:
        found = row["prediction"]
        settings = [word for setting in found["settings"] for word in ("--set", setting)]
        run = expect(place.run("simulate", place.path / "s.yaml", "--no-store", "--json", *settings), 0).json()
        for name, value in (("step_time_ns", run["step_time_ns"]["median"]), ("peak_device", run["memory"]["peak_device"]),
                            ("memory_limit", run["memory_limit"]), ("fit_probability", run["fit_probability"])):
            check(found[name] == value, f"{row['key']}: {name} is {found[name]}, simulate says {value}")
        check(found["node"] == best["node"] and found["gpus"] == best["gpus"], f"{row}")
        check(any("hardware that there is not" in text for text in run["assumes"]), f"{run['assumes']}")
        check(row["gain_probability"] is None and row["best_then"] is None, f"{row}")
    memory = rows[0]
    check(memory["prediction"]["memory_limit"] == round(best["memory_limit"] * 1.25) and memory["untried"] == 0, f"{memory}")
    check(memory["prediction"]["dollars"] == best["dollars"] and memory["from"] == "79.2 GiB" and memory["to"] == "99.0 GiB", f"{memory}")


# Two units ahead it is 0.2 % faster and needs 418 MiB more: as good as what the scenario says.
LAYERS = """name: two-layers-of-llama
model: {config: llama-3-8b, sequence_length: 2048, overrides: {num_hidden_layers: 2}}
cluster: {gpu: H100-SXM, gpus_per_node: 8}
parallel: {strategy: fsdp2}
precision: {param: bfloat16, reduce: float32}
activation: {checkpoint: full}
train: {micro_batch: 1}
"""


def test_what_equals_the_best_gives_way_to_what_is_nearer_to_the_scenario():
    place = Place()
    file = question(place, "vary: {parallel: [{strategy: fsdp2, prefetch: {forward_depth: 2, backward_depth: 2}}, {strategy: fsdp2}]}\n", scenario=LAYERS)
    answer = expect(place.run("recommend", file, "-o", place.path / "near.yaml", "--json"), 0).json()["answers"][0]
    near = answer["recommended"]
    check(answer["changes"] == 1 and near["changes"] == 0, f"{answer}")
    check(1 < near["step_time_ns"] / answer["step_time_ns"] <= 1.005 and near["peak_device"] < answer["peak_device"], f"{answer}")
    run = expect(place.run("simulate", place.path / "near.yaml", "--no-store", "--json"), 0).json()
    check(run["step_time_ns"]["median"] == near["step_time_ns"] and run["memory"]["peak_device"] == near["peak_device"], f"{near}")
    text = " ".join(expect(place.run("recommend", file), 0).out.split())
    for part in ("changes nothing", "it equals the best of 2 that satisfy to 0.5 % and is nearer to the scenario", "the best parallel {strategy: fsdp2, prefetch",
                 "really better with"):
        check(part in text, f"'{part}' is not in\n{text}")
    text = " ".join(expect(place.run("search", file), 0).out.split())
    check("what `recommend` takes: nearer to the scenario: parallel {strategy: fsdp2} (as given)" in text, text)


def test_equals_exhaustive_with_any_number_of_threads():
    place = Place()
    file = question(place, OFFERS + VARY + "train: {tokens: 1G}\nneed: {hours: 0.15, gpus: 16}\n")
    runs = [expect(place.run("search", file, "--json", "--no-store", "--threads", n), 0).json() for n in (1, 2)]
    exhaustive = expect(place.run("search", file, "--json", "--no-store", "--exhaustive"), 0).json()
    check(lasting(runs[0]) == lasting(runs[1]), "two threads give another document than one")
    check(answer_of(runs[0]) == answer_of(exhaustive), "bounds change the answer")
    check(runs[0]["space"]["bounded"] > 0 and exhaustive["space"]["bounded"] == 0, f"{runs[0]['space']}")


def test_after_a_kill_nothing_is_simulated_twice():
    place = Place()
    file = question(place, OFFERS + VARY.replace("[1, 2, 3, 4]", "[1, 2, 3, 4, 6, 8]") + "keep: {global_batch: 192}\n")
    kept = place.path / "q.yaml.results"
    process = place.start("search", file, "--threads", "1")
    for _ in range(600):
        if kept.exists() and kept.read_text().count("\n") >= 10:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = kept.read_text().count("\n")
    result = expect(place.run("search", file, "--json"), 0)
    simulated = int(re.search(r"^(\d+) simulated now", result.err, re.MULTILINE).group(1))
    lines = [json.loads(line) for line in kept.read_text().splitlines() if line.endswith("}")]
    keys = [line["key"] for line in lines]
    check(before >= 10 and len(keys) == len(set(keys)), f"{len(keys)} results, {len(set(keys))} different")
    check(simulated == len(keys) - before, f"{simulated} simulated, {before} of {len(keys)} were kept")
    again = expect(place.run("search", file, "--json"), 0)
    check("0 simulated now" in again.err and lasting(again.json()) == lasting(result.json()), "the kept results give another answer")
    anew = expect(place.run("search", file, "--json", "--no-store"), 0)
    check(lasting(anew.json()) == lasting(result.json()), "an undisturbed search gives another answer")


def test_what_is_kept_holds_for_its_scenario_only():
    place = Place()
    file = question(place, VARY)
    expect(place.run("search", file), 0)
    other = expect(place.run("search", file, "--set", "model.sequence_length=128", "--results", place.path / "q.yaml.results"), 0)
    check(not other.err.startswith("0 simulated now"), other.err)
    expect_error(place.run("search", file, "--results", place.path / "none/r"), 3, "none/r", "--no-store")


def test_a_figure_that_changed_starts_anew():
    place = Place()
    assets = place.path / "assets"
    shutil.copytree(pathlib.Path(os.environ["SHARDLAB_SOURCE"]) / "assets", assets)
    file = question(place, "vary: {train.micro_batch: [1, 2]}\n")
    def simulated():
        err = expect(place.run("search", file, env=place.environment(SHARDLAB_ASSETS=str(assets))), 0).err
        return int(re.search(r"^(\d+) simulated now", err, re.MULTILINE).group(1))
    # Two micro-batches, and the best with more memory and with faster links.
    check(simulated() == 4 and simulated() == 0, "what is kept is simulated again")
    for figure in ("hardware/runtime.yaml", "network/collectives.yaml", "network/nccl.yaml", "residuals/reserved_memory.yaml"):
        with (assets / figure).open("a") as out:
            out.write("# another figure\n")
        check(simulated() == 4, f"results of another {figure} are taken")


def test_seconds_give_the_best_so_far():
    place = Place()
    many = VARY.replace("[1, 2, 3, 4]", "divisors") + "keep: {global_batch: 4096}\n"
    file = question(place, OFFERS.replace("[1, 2, 4]", "{most: 32}") + many)
    document = expect(place.run("search", file, "--seconds", "1", "--json", "--no-store", "--threads", "1"), 0).json()
    check(document["space"]["open"] > 0 and document["answers"], f"{document['space']}")
    text = expect(place.run("search", file, "--seconds", "1", "--threads", "1"), 0).out
    check("The time is over: " in text and "None of them" in " ".join(text.split()), text)


def test_largest_and_fewest():
    place = Place()
    file = question(place, OFFERS + VARY)
    largest = expect(place.run("search", file, "--largest", "train.micro_batch", "--json"), 0).json()
    check([each["objective"] for each in largest["answers"]] == ["largest train.micro_batch"], f"{largest['answers']}")
    check(largest["answers"][0]["micro_batch"] == 4, f"{largest['answers']}")
    fewest = expect(place.run("search", file, "--fewest", "gpus", "--json"), 0).json()
    check([each["objective"] for each in fewest["answers"]] == ["gpus"] and fewest["answers"][0]["gpus"] == 8, f"{fewest['answers']}")
    expect_error(place.run("search", file, "--largest", "train.seed"), 2, "turned by no knob")
    expect_error(place.run("search", file, "--largest", "parallel"), 2, "no number", "train.micro_batch")


def test_why():
    place = Place()
    file = question(place, OFFERS + VARY + "train: {tokens: 1G}\nneed: {fit_probability: 90%}\n")
    def why(settings):
        return " ".join(expect(place.run("search", file, "--why", settings), 0).out.split("why not")[1].split())
    check("not possible: " in why("parallel.strategy=none"), "no reason")
    check("do not divide the global batch of 64" in why("train.micro_batch=5"), "no reason")
    text = why("train.accumulation=16")
    check("another training: a step has" in text and "not the 64 that the search keeps" in text, text)
    check("another training" not in why("activation.checkpoint=full"), "the batch is kept")
    check("misses a need: needs up to " in why("cluster.memory_limit=1GiB, train.micro_batch=1"), why("cluster.memory_limit=1GiB"))
    text = why("activation.checkpoint=full")
    check("takes" in text and "waits for communication" in text and "activation" in text, text)
    expect_error(place.run("search", file, "--why", "slower"), 2, "--why", "key=value")


def test_csv():
    place = Place()
    file = question(place, VARY)
    document = expect(place.run("search", file, "--csv", place.path / "all.csv", "--json"), 0).json()
    rows = list(csv.DictReader((place.path / "all.csv").open()))
    check(len(rows) == document["space"]["simulated"], f"{len(rows)} rows")
    best = min((row for row in rows if row["satisfies"] == "yes"), key=lambda row: int(row["step_time_ns"]) / int(row["accumulation"]) / int(row["train.micro_batch"]))
    check(int(best["step_time_ns"]) == document["answers"][0]["step_time_ns"], f"{best}")
    expect_error(place.run("search", file, "-q", "--csv", place.path), 2, "cannot be written")


def test_nothing_satisfies():
    place = Place()
    file = question(place, VARY + "need: {mfu: {least: 99%}}\n")
    result = expect(place.run("search", file), 1)
    check("Nothing satisfies." in result.out and "mfu is " in result.out and "not 99.0 %" in result.out, result.out)
    small = question(place, VARY, "small", GPT.replace("nodes: 1", "nodes: 1, memory_limit: 1300MiB"))
    document = expect(place.run("search", small, "--json", "--set", "model.overrides.n_layer=24", "--set", "model.sequence_length=1024"), 1).json()
    check(document["nearest"] and not document["answers"] and not document["front"], f"{document['space']}")
    for each in document["nearest"]:
        check_fields(each, {**CANDIDATE, "misses": "list", "mend": "map?"}, "nearest")
        check(each["misses"], "no reason")
    expect(place.run("recommend", small, "--set", "model.overrides.n_layer=24", "--set", "model.sequence_length=1024"), 1)


def test_a_miss_is_mended():
    place = Place()
    file = question(place, "vary: {train.micro_batch: [2, 4]}\ntrain: {tokens: 10G}\nneed: {hours: 2.3}\noffers: [{node: dgx-a100}]\n")
    document = expect(place.run("search", file, "--json"), 1).json()
    mends = [each["mend"] for each in document["nearest"] if each["mend"]]
    check(mends and all(mend["hours"] <= 2.3 and mend["setting"].startswith("cluster.nodes=") for mend in mends), f"{document['nearest']}")
    text = " ".join(place.run("search", file).out.split())
    check("mended by cluster.nodes=" in text and "(more nodes than are offered)" in text, text)
    check(all(mend["beyond_offer"] for mend in mends), f"{mends}")
    file.write_text(file.read_text().replace("{node: dgx-a100}", "{node: dgx-a100, nodes: [1, 2, 4]}").replace("hours: 2.3", "hours: 2.3, gpus: 8"))
    check("more nodes than" not in place.run("search", file).out, "offered nodes are called beyond the offer")


# MPT-7B (databricks.com/blog/mpt-7b): 1T tokens in 9.5 days on 440 A100-40GB; settings as in llm-foundry's table of that GPU.
MPT = """name: mpt-7b
model: {config: mpt-7b, sequence_length: 2048, attention: flash}
cluster: {node: aws-p4d.24xlarge, nodes: 55}
parallel: {strategy: fsdp1}
precision: {param: bfloat16, reduce: bfloat16}
activation: {checkpoint: full}
train: {micro_batch: 4}
"""
# TinyLlama (github.com/jzhang38/TinyLlama): 300B tokens in 3,456 hours of an A100-40GB, 16 of them, fused operators, 2M tokens a step.
TINY_LLAMA = """name: tinyllama
model:
  config: llama-2-7b
  sequence_length: 2048
  implementation: fused
  overrides: {hidden_size: 2048, intermediate_size: 5632, num_hidden_layers: 22, num_attention_heads: 32, num_key_value_heads: 4}
cluster: {node: aws-p4d.24xlarge, nodes: 2}
parallel: {strategy: fsdp1}
precision: {param: bfloat16, reduce: bfloat16}
train: {micro_batch: 8, accumulation: 8}
"""


def test_published_trainings_take_as_long():
    place = Place()
    for name, scenario, tokens, gpu_hours in (("mpt", MPT, "1T", 9.5 * 24 * 440), ("tinyllama", TINY_LLAMA, "300G", 3456)):
        file = question(place, f"vary: {{train.seed: [1]}}\ntrain: {{tokens: {tokens}}}\n", name, scenario)
        best = expect(place.run("search", file, "--json", "--no-calibration"), 0).json()["answers"][0]
        error = best["hours"] * best["gpus"] / gpu_hours - 1
        print(f"        {name}: {best['hours'] * best['gpus']:,.0f} GPU hours, published {gpu_hours:,.0f}: {error:+.1%}")
        check(abs(error) <= 0.2, f"{name}: {error:+.1%}")


def test_questions_without_an_answer():
    place = Place()
    def refused(text, *parts):
        expect_error(place.run("search", question(place, text), "--no-store"), 2, *parts)
    refused("vary: {train.micro_bach: [1]}", "q.yaml:2:8", "no key of a scenario is called 'train.micro_bach'", "did you mean 'train.micro_batch'?")
    refused("vary: {train.micro_batch: []}", "q.yaml:2:27", "an empty list")
    refused("vary: {parallel.strategy: [none], train.micro_batch: [1, 2]}", "none of 2 combinations is possible", "none trains on one rank")
    refused("need: {mfu: {least: 50%, most: 40%}}", "q.yaml:2:13", "contradict each other")
    refused("keep: {global_batch: 37}\nvary: {train.micro_batch: [1, 2]}", "37 sequences are divided by no number of GPUs")
    refused("offers: [{node: dgx-h10}]", "q.yaml:2:17", "unknown node 'dgx-h10'", "did you mean 'dgx-h100'?")
    refused("objective: money", "money without a price")
    refused("need: {dollars: 100}\ntrain: {tokens: 1G}\noffers: [{node: dgx-h100}]", "money without a price")
    refused("vary:\n" + "".join(f"  {key}: {{from: 1, to: 1000, step: 1}}\n" for key in
                                ("train.micro_batch", "train.seed", "measure.steps", "parallel.wrap.min_params")),
            "1e+12 combinations, more than 5,000,000")
    refused("vary: {train.micro_bach: [1]}\nobjective: speed\nfoo: 1", "unknown key 'foo'", "unknown objective 'speed'", "train.micro_bach")
    expect_error(place.run("search", place.path / "none.yaml"), 2, "none.yaml", "no such file")
    (place.path / "empty.yaml").write_text("")
    expect_error(place.run("search", place.path / "empty.yaml"), 2, "empty.yaml")
    (place.path / "lost.yaml").write_text("scenario: lost-scenario.yaml\n")
    expect_error(place.run("search", place.path / "lost.yaml"), 2, "lost.yaml:1:11", "no such file")


main(globals())
