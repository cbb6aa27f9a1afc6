"""Whatever is no such file, to everything that reads one: a refusal that is soon over, takes little memory and can be read.

Each line of the table below is a command that is given a file. It gets every thing of _things.py that it could take for one; none may
end in another way than the documented ones, take a gibibyte, or hang.
"""
# processors: 1

import os
import pathlib
import shutil

from _things import make_things
from _watched import LONGEST, MOST_MEMORY, Place, check_refused, job_of, watch

from _shardlab import SOURCE, expect

PROFILE = SOURCE / "tests/data/profiler/cuda_rank0.json"
PUBLISHED = SOURCE / "assets/backtest/published_runs.csv"
SEARCH = "scenario: s.yaml\nvary: {train.micro_batch: [1, 2]}\n"
LESSON = "title: A lesson\nminutes: 5\nable: do it\nscenarios: {a: a.yaml}\nsteps: [{text: Two ranks.}]\n"


class Desk:
    """Where commands find good files beside the bad one, which gets the name that a command wants."""

    def __init__(self):
        self.place = Place()
        self.scenario = self.place.scenario("s")
        (self.place.path / "q.yaml").write_text(SEARCH)
        expect(self.place.run("simulate", self.scenario), 0)
        self.job = job_of(self.place, self.scenario)
        self.folders = 0

    def folder(self, **files):
        """A folder of its own with files: a text, or a path that is linked there."""
        self.folders += 1
        folder = self.place.path / f"folder-{self.folders}"
        folder.mkdir()
        for name, content in files.items():
            self.put(folder / name, content)
        return folder

    def put(self, path, content):
        if isinstance(content, pathlib.Path):
            os.symlink(content, path)
        else:
            path.write_text(content)

    def own(self, thing):
        """For a command that writes there: what it would make or fill is not shared."""
        path = pathlib.Path(thing)
        is_new = not os.path.lexists(path) or path.is_file() and os.path.getsize(path) == 0 and not thing.startswith("/proc")
        return str(self.folder() / "own") if is_new else thing

    def named(self, thing, name):
        """The thing under a name."""
        folder = self.folder()
        self.put(folder / name, pathlib.Path(thing))
        return str(folder / name)


def kept_run(desk, name, thing):
    folder = desk.folder()
    (folder / "job.json").write_text(desk.job)
    (folder / name).unlink(missing_ok=True)
    desk.put(folder / name, pathlib.Path(thing))
    return str(folder)


# (what it is given to, which formats it reads, the arguments for a thing at a path)
READERS = [
    ("plan S", "yaml", lambda desk, thing: ["plan", thing]),
    ("plan --diff", "yaml", lambda desk, thing: ["plan", desk.scenario, "--diff", thing]),
    ("simulate S", "yaml", lambda desk, thing: ["simulate", thing]),
    ("scenario S", "yaml", lambda desk, thing: ["scenario", thing]),
    ("export S", "yaml", lambda desk, thing: ["export", thing, "--print"]),
    ("run S", "yaml", lambda desk, thing: ["run", thing]),
    ("validate S", "yaml", lambda desk, thing: ["validate", thing]),
    ("explain memory S", "yaml", lambda desk, thing: ["explain", "memory", thing]),
    ("explain time S", "yaml", lambda desk, thing: ["explain", "time", thing]),
    ("diff S S", "yaml", lambda desk, thing: ["diff", desk.scenario, desk.named(thing, "b.yaml")]),
    ("calibrate --scenario", "yaml", lambda desk, thing: ["calibrate", "--scenario", thing]),
    ("import --onto", "yaml", lambda desk, thing: ["import", str(PROFILE), "--onto", thing]),
    ("search FILE", "yaml", lambda desk, thing: ["search", thing, "--no-store"]),
    ("recommend FILE", "yaml", lambda desk, thing: ["recommend", thing, "--no-store"]),
    ("validate --search", "yaml", lambda desk, thing: ["validate", "--search", thing]),
    ("a search's scenario", "yaml", lambda desk, thing: ["search", str(desk.folder(**{"s.yaml": pathlib.Path(thing), "q.yaml": SEARCH}) / "q.yaml")]),
    ("search --results", "json text", lambda desk, thing: ["search", "q.yaml", "--results", desk.own(thing)]),
    ("model config.json", "json", lambda desk, thing: ["model", desk.named(thing, "config.json")]),
    ("model.config", "json", lambda desk, thing: ["plan", desk.scenario, "--set", f"model.config={desk.named(thing, 'config.json')}"]),
    ("model.moe.measured", "json", lambda desk, thing: ["plan", desk.scenario, "--set", 
                                                       f"model={{config: mixtral-8x7b, sequence_length: 32, moe: {{load: measured, measured: {thing}}}}}"]),
    ("doctor FILE", "yaml json text packed pickle", lambda desk, thing: ["doctor", thing]),
    ("doctor FILE.json", "json", lambda desk, thing: ["doctor", desk.named(thing, "ds_config.json")]),
    ("doctor FILE.yaml", "yaml", lambda desk, thing: ["doctor", desk.named(thing, "accelerate.yaml")]),
    ("doctor FILE.py", "text", lambda desk, thing: ["doctor", desk.named(thing, "train.py")]),
    ("doctor FILE.sh", "text", lambda desk, thing: ["doctor", desk.named(thing, "start.sh")]),
    ("doctor --as log", "text packed", lambda desk, thing: ["doctor", "--as", "log", thing]),
    ("doctor --as flight", "json pickle", lambda desk, thing: ["doctor", "--as", "flight", desk.named(thing, "dump_0")]),
    ("doctor of dumps", "json pickle", lambda desk, thing: ["doctor", str(desk.folder(dump_0=pathlib.Path(thing)))]),
    ("doctor --onto", "yaml", lambda desk, thing: ["doctor", str(SOURCE / "tests/data/imports/base.yaml"), "--as", "files", "--onto", thing]),
    ("doctor --from", "text", lambda desk, thing: ["doctor", "--from", str(desk.folder(hostname=pathlib.Path(thing)))]),
    ("import FILE.json", "json packed", lambda desk, thing: ["import", desk.named(thing, "trace.json")]),
    ("import FILE.yaml", "yaml", lambda desk, thing: ["import", desk.named(thing, "accelerate.yaml")]),
    ("import FILE.sh", "text", lambda desk, thing: ["import", desk.named(thing, "start.sh")]),
    ("import --onto of traces", "json packed", lambda desk, thing: ["import", desk.named(thing, "trace.json.gz"), "--onto", desk.scenario]),
    ("a record", "json", lambda desk, thing: ["import", str(desk.folder(**{"record.json": pathlib.Path(thing)}))]),
    ("a kept job", "json", lambda desk, thing: ["import", kept_run(desk, "job.json", thing)]),
    ("a kept spool", "json", lambda desk, thing: ["import", kept_run(desk, "rank-0.spool", thing)]),
    ("calibrate --refit", "json", lambda desk, thing: ["calibrate", "--refit", thing]),
    ("replay FILE", "json pickle", lambda desk, thing: ["replay", thing]),
    ("backtest CSV", "text", lambda desk, thing: ["backtest", thing, "--no-store"]),
    ("backtest --rules", "yaml", lambda desk, thing: ["backtest", str(PUBLISHED), "--no-store", "--rules", str(desk.folder(**{"r.yaml": pathlib.Path(thing)}))]),
    ("backtest --more-rules", "yaml", lambda desk, thing: ["backtest", str(PUBLISHED), "--no-store", "--more-rules",
                                                           str(desk.folder(**{"r.yaml": pathlib.Path(thing)}))]),
    ("lesson DIR", "yaml", lambda desk, thing: ["lesson", str(desk.folder(**{"lesson.yaml": pathlib.Path(thing)}))]),
    ("lesson --check", "yaml", lambda desk, thing: ["lesson", str(desk.folder(**{"lesson.yaml": pathlib.Path(thing)})), "--check"]),
    ("a lesson's scenario", "yaml", lambda desk, thing: ["lesson", str(desk.folder(**{"lesson.yaml": LESSON, "a.yaml": pathlib.Path(thing)})), "--check"]),
    ("lesson --answers", "yaml", lambda desk, thing: ["lesson", "1", "--answers", thing]),
    ("history --db", "database", lambda desk, thing: ["history", "--db", thing]),
    ("show --db", "database", lambda desk, thing: ["show", "last", "--db", thing]),
    ("diff --db", "database", lambda desk, thing: ["diff", "1", "2", "--db", thing]),
    ("trace --db", "database", lambda desk, thing: ["trace", "1", "--db", thing]),
    ("residuals --db", "database", lambda desk, thing: ["residuals", "--db", thing]),
    ("simulate --db", "database", lambda desk, thing: ["simulate", desk.scenario, "--db", desk.own(thing)]),
    ("validate --from", "database", lambda desk, thing: ["validate", "--search", "q.yaml", "--from", thing]),
]

# Numbers that are none, or that nobody has so many of; each with `plan` and `simulate`.
SETTINGS = [
    "model.sequence_length=1000000000000000000", "model.sequence_length=99999999999999999999999", "model.sequence_length=-1",
    "model.sequence_length=268435456", "train.micro_batch=1000000000", "train.accumulation=1000000000", "train.accumulation=1048576",
    "cluster={gpu: H100-SXM, nodes: 1000000000, gpus_per_node: 8}", "cluster.ranks=1000000", "cluster.threads_per_rank=99999999",
    "model.overrides.num_hidden_layers=1000000000", "model.overrides.num_hidden_layers=1000000", "model.overrides.hidden_size=1000000000000",
    "model.overrides.vocab_size=4611686018427387904", "model.overrides.num_attention_heads=0", "model.overrides.num_attention_heads=1000000007",
    "model.overrides.intermediate_size=9223372036854775807", "measure.steps=1000000000000",
    "parallel.mesh={shard: 99999999999, replicate: 99999999999}", "train.learning_rate=1e999", "train.learning_rate=nan",
    "train.betas=[.nan, .inf]", "train.seed=99999999999999999999", "cluster.memory_limit=99999999999999999999TiB",
    "launch.timeout=99999999999999h", "train.clip_norm=1e308", "model.loss={kind: chunked, chunks: 2147483647}",
]
# The same on the command line.
OPTIONS = [
    ["plan", "s.yaml", "--explain", "999999999999999999999"], ["plan", "s.yaml", "--step", "99999999999999999999"],
    ["plan", "s.yaml", "--rank", "99999999999"], ["simulate", "s.yaml", "--slow", "99999999=5"], ["simulate", "s.yaml", "--slow", "0=nan"],
    ["simulate", "s.yaml", "--spread", "gpus=nan"], ["simulate", "s.yaml", "--spread", "gpus=1e300"], ["simulate", "s.yaml", "--seed=-1"],
    ["model", "gpt2", "--sequence-length", "99999999999"], ["model", "gpt2", "--micro-batch", "2000000000"],
    ["search", "q.yaml", "--threads", "2147483648"], ["search", "q.yaml", "--seconds", "99999999999"], ["search", "q.yaml", "--threads=-1"],
    ["recommend", "q.yaml", "--threads", "0"], ["validate", "--search", "q.yaml", "--top", "99999999999999"],
    ["bench", "--ranks", "1025"], ["bench", "--seconds", "0"], ["bench", "--cluster", "{gpu: H100-SXM, gpus_per_node: 99999999}"],
    ["calibrate", "--threads", "1025"], ["calibrate", "--cluster", "{gpu: H100-SXM, nodes: 99999999999}"], ["show", "99999999999999999999"],
    ["diff", "r99999999999999999999", "1"], ["history", "--limit", "99999999999999999999"], ["residuals", "--most", "99999999999999999999"],
    ["trace", "99999999999999999999"], ["lesson", "99999999999999"], ["backtest", "--band", "nan", "--leave-one-source-out", "--no-store"],
    ["backtest", "--row", "\x1b[2J"], ["replay", "s.yaml", "--limit", "99999999999TiB"], ["replay", "s.yaml", "--device", "2147483648"],
    ["export", "s.yaml", "--to", "\x1b]0;owned\x07"], ["doctor", "s.yaml", "--ignore", "\x1b[2J"], ["explain", "\x1b[2J"], ["\x1b[2J"],
]

# What is no refusal, and why: (reader, thing) -> codes.
TEXTS = ("control characters", "one long line", "yaml: aliases", "yaml: long aliases", "yaml: deep", "yaml: deep maps", "yaml: deep lists",
         "yaml: keys", "yaml: control characters", "json: deep", "json: deep to its end", "json: many lists", "json: many members",
         "json: large numbers", "json: control characters", "json: cut off", "pickle: a call", "pickle: many lists", "zeros", "noise")
ALLOWED = {
    **{(reader, thing): (0, 1, 2) for reader in ("doctor FILE", "doctor FILE.json", "doctor FILE.yaml", "doctor FILE.sh", "doctor FILE.py",
                                                 "doctor --as log") for thing in TEXTS},  # a text is a log, or a program, in which nothing is wrong
    ("doctor FILE.py", "an empty file"): (0, 1, 2),
    ("doctor --from", "nothing"): (0, 1, 2),
    ("doctor --from", "an empty file"): (0, 1, 2),
    **{("doctor --from", thing): (0, 1, 2) for thing in ("control characters", "noise")},  # of a machine that is called so
    ("a kept spool", "nothing"): (4,),  # the ranks wrote none
    ("a kept spool", "a link to itself"): (2, 3, 4),
    ("search --results", "nothing"): (0, 1),  # it is made
    ("search --results", "an empty file"): (0, 1),
    ("simulate --db", "nothing"): (0,),
    ("simulate --db", "an empty file"): (0,),
}


def cases(desk, things):
    """(what is tried, the arguments, the codes that are documented for it)."""
    for reader, formats, arguments in READERS:
        for thing, (form, path) in things.items():
            if form == "all" or form in formats.split():
                yield f"{reader}: {thing}", arguments(desk, path), ALLOWED.get((reader, thing), (1, 2, 3))
    for setting in SETTINGS:
        for command in ("plan", "simulate"):
            yield f"{command}: {setting}", [command, desk.scenario, "--set", setting], (2, 3)
    for words in OPTIONS:
        yield " ".join(words), words, (2, 3)


def print_table(rows):
    """The slowest and the largest of (what, how it ended)."""
    print(f"{len(rows)} refusals; the slowest took {max(ended.seconds for _, ended in rows):.2f} s (it may take {LONGEST}), "
          f"the largest {max(ended.memory for _, ended in rows) >> 20} MiB (it may take {MOST_MEMORY and MOST_MEMORY >> 20})")
    for title, by in (("slowest", lambda ended: ended.seconds), ("most of a processor", lambda ended: ended.processor_seconds),
                      ("largest", lambda ended: ended.memory)):
        print(f"\n{title:44} seconds  of a processor      MiB  exit code")
        for what, ended in sorted(rows, key=lambda row: -by(row[1]))[:8]:
            print(f"  {what[:44]:44} {ended.seconds:8.2f} {ended.processor_seconds:15.2f} {ended.memory >> 20:8d} {ended.code:10d}")


def main():
    desk, rows, failures = Desk(), [], []
    folder = desk.place.path / "things"
    folder.mkdir()
    for what, arguments, codes in cases(desk, make_things(folder)):
        try:
            ended = watch(desk.place, *arguments)
            rows.append((what.replace("\x1b", "ESC"), ended))
            check_refused(ended, codes=codes, says=0 not in codes)
        except AssertionError as wrong:
            failures.append(f"{what!r}: {wrong}")
    print_table(rows)
    shutil.rmtree(folder)
    for failure in failures:
        print(f"\nFAILED  {failure}")
    return 1 if failures else 0


raise SystemExit(main())
