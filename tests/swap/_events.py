"""Events of a swapped optimizer, in the order in which the host comes to them, and those of a recording of DeepSpeed (tests/data/swaps):

    AllGather | ReduceScatter | AllReduce, bytes, dtype
    read | write, sub-group, what, bytes        given to the drive
    wait, what it completed                     waits that stand one after the other are one
    copy, sub-group, what, bytes                into a staging buffer, to be written; before it "buffer" where another one is begun
    kept, sub-group, what, bytes                a gradient that never left, or the end of one that did, into a staging buffer
    clip | update | parameters | forget, sub-group      the last: the gradients that stayed are given up
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from _shardlab import check

COLLECTIVES = ("AllGather", "ReduceScatter", "AllReduce")


def up(value, unit):
    return (value + unit - 1) // unit * unit


class Recording:
    def __init__(self, name, data):
        self.name, self.data = name, data
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
