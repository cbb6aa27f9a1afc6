"""Every call of the C library fails once, in every command that predicts, stores, writes or reads files."""
# processors: 1

import errno

from _faults import NIGHTLY, Command, attack, each_call, onwards
from _shardlab import SOURCE, check, expect, main

MOST = 400 if NIGHTLY else 8
DATA = SOURCE / "tests/data"


GPT = """name: small-gpt
model: {config: gpt2, sequence_length: 256, overrides: {n_layer: 4, n_embd: 256, n_head: 4, vocab_size: 2048}}
cluster: {node: dgx-h100, nodes: 1}
parallel: {strategy: fsdp2}
train: {micro_batch: 2, accumulation: 4}
"""


def with_a_run(place):
    scenario = place.scenario()
    expect(place.run("simulate", scenario, "--quiet"), 0)
    return scenario


def beside(place, source):
    file = place.path / source.name
    file.write_bytes(source.read_bytes())
    return file


def first_run(place):
    return ["simulate", place.scenario(), "--quiet"]


def one_more_run(place):
    return ["simulate", with_a_run(place), "--quiet"]


def writes_a_trace(place):
    with_a_run(place)
    return ["trace", "r1", "--output", place.path / "trace.json"]


def replaces_an_export(place):
    scenario = place.scenario()
    arguments = ["export", scenario, "--to", "all", "-o", place.path / "files", "--force", "--accept", "all"]
    (place.path / "files").mkdir()
    (place.path / "files" / "tiny.torchrun.sh").write_text("what stood there before\n")
    return arguments


def writes_an_import(place):
    return ["import", beside(place, DATA / "imports/good/fsdp2.yaml"), "--onto", beside(place, DATA / "imports/base.yaml"), "-o",
            place.path / "imported.yaml", "--force"]


def stores_a_trace(place):
    with_a_run(place)
    return ["import", beside(place, DATA / "profiler/plan_fsdp2_kept.json.gz")]


def mends_a_scenario(place):
    mistaken = beside(place, DATA / "doctor/scenarios/memory.activations-dominate.yaml")
    return ["doctor", mistaken, "--fix", "-o", place.path / "mended.yaml", "--force"]


def searches(place):
    place.scenario(text=GPT)
    file = place.path / "search.yaml"
    file.write_text("scenario: tiny.yaml\nvary: {train.micro_batch: [1, 2, 4], parallel.strategy: [fsdp1, fsdp2]}\n")
    return ["search", file, "--csv", place.path / "all.csv"]


def replays(place):
    return ["replay", beside(place, DATA / "allocator/history_default.pickle")]


def shows(place):
    with_a_run(place)
    return ["show", "r1"]


def compares(place):
    scenario = with_a_run(place)
    return ["diff", "r1", scenario, "--set", "parallel.strategy=fsdp1"]


def exports_answers(place):
    with_a_run(place)
    return ["lesson", "--csv", place.path / "answers.csv"]


def writes_a_page(place):
    return ["lesson", "1", "--html", place.path / "page.html"]


COMMANDS = [(first_run, True), (one_more_run, True), (writes_a_trace, False), (replaces_an_export, False), (writes_an_import, False),
            (stores_a_trace, True), (mends_a_scenario, False), (searches, False), (replays, False), (shows, False), (compares, False),
            (exports_answers, False), (writes_a_page, False)]


# zlib gives a packed file up; Linux interrupts the reading of no file on a disk.
LEFT_ASIDE = {"stores_a_trace": [("read", str(errno.EINTR))]}


def commands():
    for prepare, stores in COMMANDS:
        yield Command(prepare.__name__, prepare, stores, without=LEFT_ASIDE.get(prepare.__name__, ()))


def test_every_call_fails_once():
    wrong = []
    for command in commands():
        wrong += attack(command, each_call(MOST))
    check(not wrong, f"{len(wrong)} faults ended wrongly")


def test_a_disk_that_stays_full():
    wrong = []
    for command in commands():
        wrong += attack(command, onwards(MOST))
    check(not wrong, f"{len(wrong)} faults ended wrongly")


if __name__ == "__main__":
    main(globals())
