"""DeepSpeed's configurations as scenarios, and what differs between what it swapped and what our plans swap."""
import difflib
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from _events import COLLECTIVES, RecordedStep, Recording, up
from _planned import Plan
from _shardlab import SOURCE, Place, check, expect

AIO = {"block_size": "block_size", "queue_depth": "queue_depth", "intra_op_parallelism": "threads"}
PAGE = 4096


def offload_of(zero, aio):
    optimizer = zero.pop("offload_optimizer")
    offload = {"optimizer": "nvme", "buffers": optimizer["buffer_count"], "pipeline_read": optimizer["pipeline_read"],
               "pipeline_write": optimizer["pipeline_write"]}
    if "offload_param" in zero:
        offload["parameters"] = zero.pop("offload_param")["device"]
    if aio:
        offload["aio"] = {AIO[key]: value for key, value in aio.items()}
    return offload


def scenario_of(place, deepspeed, config, sequence_length):
    """The file of a scenario with the settings of a DeepSpeed configuration; every key is used."""
    left = dict(deepspeed)
    zero = dict(left.pop("zero_optimization"))
    check(zero.pop("stage") == 3, "a recording of another stage")
    offload = offload_of(zero, left.pop("aio", {}))
    zero.update(left.pop("data_types", {}))
    train = {"data": str(SOURCE / "assets/data/licenses.txt"), "micro_batch": left.pop("train_micro_batch_size_per_gpu"),
             "accumulation": left.pop("gradient_accumulation_steps"), "clip_norm": left.pop("gradient_clipping")}
    (place.path / "config.json").write_text(json.dumps(config))
    scenario = {"name": "recorded", "model": {"config": "config.json", "sequence_length": sequence_length},
                "cluster": {"device": "cpu", "ranks": 2, "nvme": {"path": str(place.path), "read": 3000000000, "write": 2000000000}},
                "parallel": {"strategy": "zero3", "zero": zero}, "offload": offload, "train": train}
    if left.pop("bf16", {}).get("enabled"):
        scenario["precision"] = {"param": "bfloat16"}
    check(not left, f"settings that the scenario leaves out: {left}")
    return place.scenario(text=json.dumps(scenario))


def under_way(events):
    """At each update: what was read for its sub-group and awaited, and what reads and writes of others are not."""
    pending, awaited, made = [], [], []
    for event in events:
        if event[0] in ("read", "write"):
            pending.append(event[:3])
        elif event[0] == "wait":
            awaited += event[1]
            pending = [each for each in pending if each not in event[1]]
        elif event[0] == "update":
            made.append((event[1], sorted(each for each in awaited if each[:2] == ("read", event[1])), sorted(pending)))
    return made


def of_kinds(*kinds):
    return lambda events: [event for event in events if event[0] in kinds]


ASPECTS = {"reads": of_kinds("read"), "writes": of_kinds("write"), "gradients in staging buffers": of_kinds("copy", "buffer"),
           "gradients that stayed": of_kinds("kept", "forget"), "collectives": of_kinds(*COLLECTIVES),
           "what is under way at each update": under_way, "order of everything": lambda events: events}


def difference(theirs, ours):
    """Lines with - are recorded, with + planned."""
    lines = list(difflib.unified_diff([str(each) for each in theirs], [str(each) for each in ours], lineterm="", n=1))[2:]
    return "\n".join(lines[:16] + ([f"... {len(lines) - 16} more lines"] if len(lines) > 16 else []))


def compare_step(step, recorded, planned):
    found = [f"{step}, {aspect}:\n{difference(of(recorded.events), of(planned.events))}"
             for aspect, of in ASPECTS.items() if of(recorded.events) != of(planned.events)]
    if recorded.most != planned.most and step != "setup":
        found.append(f"{step}, most staging buffers at once: recorded {recorded.most}, planned {planned.most}")
    return found


def compare_pool(recording, plan):
    """DeepSpeed rounds a buffer up to 1024 bytes a thread, the plans to pages besides."""
    largest = 4 * max(sum(recording.data["partitions"][each] for each in group) for group in recording.groups)
    unit, count, staging = 1024 * recording.threads, recording.pool["buffers"], plan.buffers["staging"]
    found = []
    if recording.pool["bytes"] != count * up(largest, unit):
        found.append(f"the recorded pool of {recording.pool['bytes']} bytes is not {count} x {up(largest, unit)}")
    if staging.bytes != count * up(largest, math.lcm(unit, PAGE)) or staging.space != "pinned_host":
        found.append(f"the planned pool of {staging.bytes} bytes in {staging.space} is not {count} x {up(largest, math.lcm(unit, PAGE))}")
    return found


def compare_kept(recording, plan):
    """Bytes where they were recorded, but of float32 gradients, which on processors are views of all (tests/data/swaps/README.md)."""
    theirs, ours = recording.kept(), plan.kept()
    has_bytes = any(rest for parts in theirs.values() for part in parts for rest in part.values())
    if not has_bytes or "data_types" in recording.data["deepspeed"] or "bf16" not in recording.data["deepspeed"]:
        theirs, ours = ({group: tuple(map(sorted, parts)) for group, parts in kept.items()} for kept in (theirs, ours))
    return [] if theirs == ours else [f"gradients that stay (whole, of which the last elements do): recorded {theirs}\nplanned {ours}"]


def compare_pipelines(recording, plan):
    """With pipeline_read an update runs beside reads of the next sub-group, with pipeline_write beside writes of the last."""
    optimizer = recording.data["deepspeed"]["zero_optimization"]["offload_optimizer"]
    swapped = sum(each is not None for each in recording.data["kept"])
    beside = {verb for _, _, pending in under_way(plan.events) for verb, *_ in pending}
    wanted = {verb for verb in ("read", "write") if optimizer[f"pipeline_{verb}"] and swapped > 1}
    return [] if beside == wanted else [f"beside updates are {beside}, not {wanted}"]


def differences(name, data):
    """What differs between a recording and our plans of the same settings, in words."""
    recording, place, found = Recording(name, data), Place(), []
    scenario = scenario_of(place, recording.data["deepspeed"], recording.data["config"], recording.data["sequence_length"])
    for step in ("setup", "first", "steady"):
        plan = Plan(expect(place.run("plan", scenario, "--step", step, "--buffers"), 0).out, recording, step)
        found += compare_step(step, RecordedStep(recording, step), plan)
    return found + compare_pool(recording, plan) + compare_kept(recording, plan) + compare_pipelines(recording, plan)
