"""The events of a plan with its optimizer on a drive, as those of a recording (_events.py)."""
import re
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from _events import COLLECTIVES, add_wait, up
from _shardlab import check


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
