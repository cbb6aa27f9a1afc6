"""ZeRO-3 with its optimizer on a drive: the plans swap what DeepSpeed 0.19.8 swapped (tests/data/swaps), in its order.

One argument, a folder, takes the place of tests/data/swaps. Both sides become one list of events, in the order in which the host comes to
them:
    AllGather | ReduceScatter | AllReduce, bytes, dtype
    read | write, sub-group, what, bytes        given to the drive
    wait, what it completed                     waits that stand one after the other are one
    copy, sub-group, what, bytes                into a staging buffer, to be written; before it "buffer" where another one is begun
    kept, sub-group, what, bytes                a gradient that never left, or the end of one that did, into a staging buffer
    clip | update | parameters | forget, sub-group      the last: the gradients that stayed are given up
"""
# processors: 1
import difflib
import json
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from _shardlab import SOURCE, Place, check, expect, expect_error, main

FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE / "tests/data/swaps"
RECORDINGS, COUNTS = 18, (11, 16)  # the latter: with which DeepSpeed trained, and failed
COLLECTIVES = ("AllGather", "ReduceScatter", "AllReduce")
AIO = {"block_size": "block_size", "queue_depth": "queue_depth", "intra_op_parallelism": "threads"}
PAGE = 4096


def up(value, unit):
    return (value + unit - 1) // unit * unit


# Scenarios


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


# What was recorded


class Recording:
    def __init__(self, file):
        self.name, self.data = file.stem, json.loads(file.read_text())
        self.groups, self.pool = self.data["groups"], self.data["pool"]
        self.threads = self.data["deepspeed"].get("aio", {}).get("intra_op_parallelism", 1)

    def begin(self, group, offset):
        """The parameter that has this element of a sub-group, and whether it begins there."""
        at = 0
        for parameter in self.groups[group]:
            if at <= offset < at + self.data["partitions"][parameter]:
                return parameter, at == offset
            at += self.data["partitions"][parameter]
        raise AssertionError(f"{self.name}: sub-group {group} has no element {offset}")

    def what(self, kind, group, words):
        """"gradient 1 @262272 1048576" as sub-group, name and bytes."""
        if kind != "gradient":
            return int(group), kind, int(words[0])
        parameter, begins = self.begin(int(group), int(words[0][1:]))
        check(begins, f"{self.name}: the file of a gradient begins inside {parameter}")
        return int(group), f"gradient.{parameter}", int(words[1])

    def kept(self):
        """By sub-group that is swapped: gradients that stayed whole, and those of which the last elements did, with the bytes they hold."""
        kept = {}
        for group, stayed in enumerate(self.data["kept"]):
            if stayed is not None:
                places = [(*self.begin(group, offset), rest) for offset, _, *rest in stayed]
                kept[group] = tuple({each: rest for each, begins, rest in places if begins is which} for which in (True, False))
        return kept


class RecordedStep:
    """events, and the most staging buffers that gradients filled and that an update had in use."""

    def __init__(self, recording, step):
        self.r, self.events, self.pending, self.given_up = recording, [], {"reads": [], "writes": []}, set()
        self.filled, self.most = set(), {"gradients": 0, "update": 0}
        lines = [line.split() for line in recording.data[step]]
        for at, (verb, *words) in enumerate(lines):
            getattr(self, f"on_{verb}", self.on_other)(verb, words, lines[at + 1:])

    def on_other(self, verb, words, _):
        check(verb in COLLECTIVES or verb in ("clip", "update", "parameters"), f"{self.r.name}: unknown event {verb}")
        self.events.append((verb, int(words[0]), *words[1:]))

    def on_read(self, verb, words, _):
        event = (verb, *self.r.what(words[0], words[1], words[2:]))
        self.pending[verb + "s"].append(event[:3])
        self.events.append(event)

    on_write = on_read

    def on_wait(self, _, words, __):
        done = []
        for handle in ("reads", "writes") if words[0] == "all" else (words[0],):
            done += self.pending[handle]
            self.pending[handle] = []
        check(len(done) == int(words[1]), f"{self.r.name}: a wait for {words[1]} operations where {len(done)} are under way")
        add_wait(self.events, done)
        self.filled.clear()

    def on_copy(self, verb, words, _):
        if words[0] != "state":  # the plans make states where they are written from
            self.events.append((verb, *self.r.what(words[0], words[1], words[2:])))

    def on_gradient_buffer(self, _, words, __):
        self.filled.add(words[0])
        self.most["gradients"] = max(self.most["gradients"], len(self.filled))
        self.events.append(("buffer",))

    def on_kept(self, verb, words, _):
        parameter, begins = self.r.begin(int(words[0]), int(words[1][1:]))
        self.given_up.add(int(words[0]))
        self.events.append((verb, int(words[0]), f"gradient.{parameter}" + ("" if begins else ".end"), int(words[2])))

    def on_forget(self, verb, words, _):
        if int(words[0]) in self.given_up:
            self.events.append((verb, int(words[0])))

    def on_take(self, _, words, following):
        if following[0][0] in ("gradient_buffer", "write"):
            return  # all there are, for gradients or the first masters
        used = int(words[2])
        if following[0][0] == "copy":  # all there are, for states
            copies = next(at for at, line in enumerate(following) if line[0] != "copy")
            used -= int(words[0]) - copies
        self.most["update"] = max(self.most["update"], used)

    def on_give(self, *_):
        pass


def add_wait(events, done):
    if done and events and events[-1][0] == "wait":
        done = [*events.pop()[1], *done]
    if done:
        events.append(("wait", tuple(sorted(done))))


# What is planned


def numbers(runs):
    """"0..3,7" as [0, 1, 2, 3, 7]."""
    made = []
    for run in runs.split(","):
        first, _, last = run.partition("..")
        made += range(int(first), int(last or first) + 1)
    return made


class Buffer:
    def __init__(self, line):
        found = re.match(r"buffer (\S+) (\S+) (\S+) x (\d+) (\S+) on (\S+)(.*)$", line)
        check(found, f"no buffer: {line}")
        self.name, self.dtype, self.elements, self.space, rest = found[1], found[3], int(found[4]), found[5], found[7]
        self.bytes = self.elements * {"float32": 4, "bfloat16": 2}.get(self.dtype, 1)
        parameters = re.search(r" layout .* of ([\d.,]+)", rest)
        self.parameters = numbers(parameters[1]) if parameters else []
        first = re.search(r" from (\d+)", rest)
        self.first = int(first[1]) if first else 0
        within = re.search(r" within staging at (\d+)", rest)
        self.at = int(within[1]) if within else None


class Instruction:
    def __init__(self, line):
        number, self.stream, self.kind, *words = line.split()
        fields = dict(zip(words[::2], words[1::2]))
        self.id, self.bytes = int(number), int(fields.get("bytes", 0))
        for name in ("reads", "writes", "allocates", "frees"):
            setattr(self, name, fields[name].split(",") if name in fields else [])
        self.waits = [int(each) for each in fields["waits"].split(",")] if "waits" in fields else []


class Plan:
    """The same of a plan. Bytes of masters and states are rounded up, as DeepSpeed gives them to a drive."""

    def __init__(self, text, recording, step):
        lines = text.splitlines()
        self.r, self.step, self.alignment = recording, step, 1024 * recording.threads
        self.buffers = {each.name: each for each in (Buffer(line) for line in lines if line.startswith("buffer "))}
        self.instructions = [Instruction(line) for line in lines if re.match(r" *\d+  \S", line)]
        check([each.id for each in self.instructions] == list(range(len(self.instructions))), "not all instructions were read")
        self.slot = self.buffers["staging"].elements // recording.pool["buffers"]
        self.events, self.pending, self.alive, self.most = [], [], {}, {"gradients": 0, "update": 0}
        self.sources, self.freed, self.updated = {}, {}, {}
        for each in self.instructions:
            self.follow(each)

    def group(self, buffer):
        found = [at for at, group in enumerate(self.r.groups) if set(buffer.parameters) <= set(group)]
        check(len(found) == 1, f"{buffer.name} lies in the sub-groups {found}")
        return found[0]

    def group_of(self, i, names):
        """The sub-group whose parameters these buffers have, all of them."""
        parameters = {each for name in names for each in self.buffers[name].parameters}
        found = [at for at, group in enumerate(self.r.groups) if set(group) == parameters]
        check(len(found) == 1, f"{i.id} {i.kind} takes the parameters {sorted(parameters)}, which are no sub-group")
        return found[0]

    def what(self, buffer):
        kind = buffer.name.removeprefix("drive.").split(".")[0]
        if kind in ("master", "exp_avg", "exp_avg_sq"):
            check(buffer.parameters == self.r.groups[self.group(buffer)], f"{buffer.name} is no whole sub-group")
            return self.group(buffer), kind, up(buffer.bytes, self.alignment)
        check(len(buffer.parameters) == 1, f"{buffer.name} is no gradient of one parameter")
        return self.group(buffer), f"gradient.{buffer.parameters[0]}" + (".end" if buffer.first else ""), buffer.bytes

    def follow(self, i):
        self.count_slots(i)
        if i.kind in COLLECTIVES:
            self.events.append((i.kind, i.bytes, self.buffers[i.reads[0]].dtype))
        elif i.kind == "HostWait":
            self.wait(i)
        elif i.kind in ("ClipGradients", "OptimizerStep"):
            group = self.group_of(i, i.reads)
            if i.kind == "OptimizerStep":
                self.updated[group] = i.id
            self.events.append(("update" if i.kind == "OptimizerStep" else "clip", group))
        elif i.kind in ("Copy", "Cast"):
            self.copy(i)
        elif i.kind == "Free":
            self.free(i)

    def copy(self, i):
        read, written = self.buffers[i.reads[0]], self.buffers[i.writes[0]]
        if "disk" in (read.space, written.space):
            verb, file, staged = ("read", read, written) if read.space == "disk" else ("write", written, read)
            self.transfer(i, verb, file, staged)
        elif written.at is not None:
            self.stage(i, read, written)
        elif self.updated and written.name.startswith("shard."):
            self.events.append(("parameters", self.group_of(i, i.writes)))

    def transfer(self, i, verb, file, staged):
        check(i.bytes == file.bytes == staged.bytes and file.parameters == staged.parameters, f"{i.id} moves another part than {file.name}")
        check(i.stream == f"drive_{verb}", f"{i.id} is a {verb} on {i.stream}")
        self.check_place(staged)
        event = (verb, *self.what(file))
        self.pending.append((i, event[:3]))
        self.events.append(event)

    def check_place(self, staged):
        """Masters and states begin a slot, gradients of an update lie where their sub-group has them."""
        if not staged.name.startswith("leaving"):
            group = self.r.groups[self.group(staged)]
            offset = sum(self.r.data["partitions"][each] for each in group[:group.index(staged.parameters[0])])
            check(staged.at % self.slot == offset + staged.first, f"{staged.name} lies at {staged.at} in slots of {self.slot} elements")

    def stage(self, i, read, written):
        group, what, _ = self.what(written)
        if written.name.startswith("update_gradient"):
            self.check_place(written)
            self.sources[read.name] = (group, written.parameters[0], "end" if written.first else "whole")
            self.events.append(("kept", group, what, written.bytes))
            return
        if written.name.startswith("leaving"):
            self.sources[read.name] = (group, written.parameters[0], "left")
            if len(self.in_slot(written.at // self.slot)) == 1:  # this one alone
                self.events.append(("buffer",))
            self.events.append(("copy", group, what, written.bytes))

    def wait(self, i):
        """A wait for an instruction is one for all that its stream was given before."""
        done = [each for each in self.pending if any(each[0].stream == self.instructions[of].stream and each[0].id <= of for of in i.waits)]
        self.pending = [each for each in self.pending if each not in done]
        add_wait(self.events, [event for _, event in done])

    def free(self, i):
        for name in i.frees:
            self.freed[name] = i.id
            group = self.sources.get(name, (None,))[0]
            if group in self.updated and ("forget", group) not in self.events:
                self.events.append(("forget", group))

    def in_slot(self, slot):
        return [name for name, at in self.alive.items() if at == slot]

    def count_slots(self, i):
        """States that the first update makes count from their write on, as DeepSpeed makes them elsewhere."""
        for name in i.frees:
            self.alive.pop(name, None)
        made = [name for name in i.allocates if not (self.step == "first" and name.startswith("exp_avg"))]
        for name in [*made, *(i.reads if i.stream == "drive_write" else [])]:
            if self.buffers[name].at is not None:
                self.alive[name] = self.buffers[name].at // self.slot
        for part, mine in (("gradients", True), ("update", False)):
            slots = {slot for name, slot in self.alive.items() if name.startswith("leaving") is mine}
            self.most[part] = max(self.most[part], len(slots))

    def kept(self):
        """By sub-group: gradients that stayed whole, and those that left and linger, with the bytes they hold until after the update."""
        kept = {group: ({}, {}) for group in {self.group(each) for name, each in self.buffers.items() if name.startswith("drive.master")}}
        for name, (group, parameter, how) in self.sources.items():
            check(self.buffers[name].space == "device", f"{name} is not on the device")
            if self.freed[name] > self.updated[group]:
                kept[group][0 if how == "whole" else 1][parameter] = [self.buffers[name].bytes]
        return kept


# Comparison


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
    """Bytes where they were recorded, but of float32 sums, which on processors are views of all sums (README.md)."""
    theirs, ours = recording.kept(), plan.kept()
    has_bytes = any(rest for parts in theirs.values() for part in parts for rest in part.values())
    if not has_bytes or "data_types" in recording.data["deepspeed"]:
        theirs, ours = ({group: tuple(map(sorted, parts)) for group, parts in kept.items()} for kept in (theirs, ours))
    return [] if theirs == ours else [f"gradients that stay (whole, of which the last elements do): recorded {theirs}\nplanned {ours}"]


def compare_pipelines(recording, plan):
    """With pipeline_read an update runs beside reads of the next sub-group, with pipeline_write beside writes of the last."""
    optimizer = recording.data["deepspeed"]["zero_optimization"]["offload_optimizer"]
    beside = {verb for _, _, pending in under_way(plan.events) for verb, *_ in pending}
    wanted = {verb for verb in ("read", "write") if optimizer[f"pipeline_{verb}"]}
    return [] if beside == wanted else [f"beside updates are {beside}, not {wanted}"]


def differences(file):
    recording, place, found = Recording(file), Place(), []
    scenario = scenario_of(place, recording.data["deepspeed"], recording.data["config"], recording.data["sequence_length"])
    for step in ("setup", "first", "steady"):
        plan = Plan(expect(place.run("plan", scenario, "--step", step, "--buffers"), 0).out, recording, step)
        found += compare_step(step, RecordedStep(recording, step), plan)
    return found + compare_pool(recording, plan) + compare_kept(recording, plan) + compare_pipelines(recording, plan)


def test_plans_swap_what_deepspeed_swapped():
    files = sorted(each for each in FOLDER.glob("*.json") if each.stem != "buffer_counts")
    equal = 0
    for file in files:
        try:
            found = differences(file)
        except Exception as error:  # of this recording; the others are compared all the same
            found = [f"{type(error).__name__}: {error}"]
        equal += not found
        for each in found:
            print(f"{file.stem}: {each}")
    print(f"{equal} of {len(files)} recordings equal")
    check(len(files) == RECORDINGS, f"{len(files)} recordings, not {RECORDINGS}")
    check(equal == RECORDINGS, "the plans differ from what was recorded")


def counted_scenario(place, data, case):
    optimizer = {"buffer_count": case["buffers"], "pipeline_read": case["pipeline_read"], "pipeline_write": case["pipeline_write"]}
    deepspeed = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": case["accumulation"], "gradient_clipping": 1.0,
                 "bf16": {"enabled": True},
                 "zero_optimization": {"stage": 3, "sub_group_size": case["sub_group_size"], "offload_optimizer": optimizer}}
    return scenario_of(place, deepspeed, data["config"], data["sequence_length"])


def test_as_many_buffers_as_deepspeed_needs():
    """Counts with which DeepSpeed failed are refused and the smallest that trained is named; those with which it trained are planned."""
    data = json.loads((FOLDER / "buffer_counts.json").read_text())
    mode = lambda case: (case["pipeline_read"], case["pipeline_write"], case["sub_group_size"])
    trained = [case for case in data["counts"] if not case["fails"]]
    refused = [case for case in data["counts"] if case["fails"]]
    for case in trained:
        place = Place()
        expect(place.run("plan", counted_scenario(place, data, case), "--step", "steady"), 0)
    for case in refused:
        place, enough = Place(), min(each["buffers"] for each in trained if mode(each) == mode(case))
        expect_error(place.run("plan", counted_scenario(place, data, case)), 2, f"offload.buffers: {case['buffers']} staging buffers",
                     f"set offload.buffers: {enough}")
    print(f"{len(trained)} buffer counts planned, {len(refused)} refused")
    check((len(trained), len(refused)) == COUNTS, f"{COUNTS} cases are expected")


main(globals())
