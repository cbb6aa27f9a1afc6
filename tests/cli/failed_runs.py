"""Real runs that cannot work or break: one message, the right exit code, no hang, no process left, no damaged database."""

import json
import os
import signal
import sqlite3
import struct
import time

from _processes import name_of, wait_for_training, wait_until
from _shardlab import TINY, Place, check, expect, expect_error, main, needs_torch

needs_torch()


INSTRUCTIONS = ("AllGather", "ReduceScatter", "AllReduce", "Forward", "Backward", "OptimizerStep", "Unpack")


def kill_one(place, scenario, victim):
    """Kills one rank of a run in the middle of a step; checks how the run ends and returns what it said."""
    process = place.start("run", scenario)
    ranks = wait_for_training(process, 2)
    os.kill(ranks[victim], signal.SIGKILL)
    begin = time.monotonic()
    out, err = process.communicate(timeout=60)
    seconds = time.monotonic() - begin
    print(f"        the run ended {seconds:.1f} s after the kill: {err.splitlines()[0]}")
    check(process.returncode == 4, f"code {process.returncode}: {err}")
    check(seconds < 30, f"it took {seconds:.1f} s")
    check(err.startswith("error: ") and f"rank {victim} " in err and f"rank {1 - victim} " in err and out == "", f"{err}{out}")
    # Of the logs one is empty and the other tells of a lost peer; the error itself says that a rank was killed.
    check(check_the_doctors_word(err, "memory/host-exhausted") == "--explain memory/host-exhausted", err)
    check(wait_until(lambda: not any(name_of(pid) == "shardlab-rank" for pid in ranks), 5), "ranks are left")
    return err


def test_a_killed_rank():
    place = Place()
    scenario = place.scenario(steps=100000)
    expect(place.run("simulate", scenario, "--quiet"), 0)
    before = expect(place.run("history", "--json"), 0).out
    # Long steps, so that nearly every kill falls into one; a kill between two steps is tried again.
    text = open(scenario, encoding="utf-8").read()
    text = text.replace("sequence_length: 32", "sequence_length: 256").replace("micro_batch: 2", "micro_batch: 8")
    scenario = place.scenario(text=text)
    for victim in (0, 1):
        messages = []
        while len(messages) < 3 and not any(kind in message for message in messages for kind in INSTRUCTIONS):
            messages.append(kill_one(place, scenario, victim))
        check(any(kind in messages[-1] for kind in INSTRUCTIONS), f"no instruction is named: {messages}")
    check(expect(place.run("history", "--json"), 0).out == before, "the stored runs changed")
    connection = sqlite3.connect(place.db)
    check(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "the database is damaged")
    connection.close()


def check_the_doctors_word(text, rule):
    """The last line of an error names the rule, and what it sends people to says the same first."""
    line = text.rstrip().splitlines()[-1]
    check(line.startswith(f"doctor: {rule}: ") and line.endswith("` says more"), "the doctor's line", text)
    return line.split("`shardlab doctor ")[1].removesuffix("` says more")


def test_a_failed_run_names_the_doctors_rule():
    place, rule = Place(), "network/wrong-interface"
    failing = ("--set", "launch.interface=nothing0")
    done = expect_error(place.run("run", place.scenario(), *failing), 4, "nothing0")
    file = check_the_doctors_word(done.err, rule)
    check(f"[C-23 {rule}]" in expect(place.run("doctor", file), 1).out.splitlines()[0], f"{file} says the same")
    document = expect(place.run("run", place.scenario(), *failing, "--json"), 4).json()
    check(document["doctor"]["rule"] == rule and document["doctor"]["codes"][0] == "C-23", f"{document}")
    check(document["error"]["kind"] == "run_failed" and document["doctor"]["file"].endswith(".log"), f"{document}")
    validated = expect_error(place.run("validate", place.scenario(), "--no-calibrate", *failing), 4, "nothing0")
    check_the_doctors_word(validated.err, rule)
    both = expect(place.run("validate", place.scenario("a"), place.scenario("b"), "--no-calibrate", *failing, "--json"), 4).json()
    check([each["doctor"]["rule"] for each in both["scenarios"]] == [rule, rule], f"{both}")
    refused = place.run("run", place.scenario(), "--set", "train.data=missing.txt")
    check("doctor:" not in refused.err, "what is refused before it runs has no log", refused)


def test_a_stopped_rank():
    place = Place()
    process = place.start("run", place.scenario(steps=100000, extra="launch: {timeout: 5s}\n"))
    ranks = wait_for_training(process, 2)
    os.kill(ranks[1], signal.SIGSTOP)
    begin = time.monotonic()
    _, err = process.communicate(timeout=60)
    check(process.returncode == 4 and "rank" in err, f"code {process.returncode}: {err}")
    check(time.monotonic() - begin < 40, "it took too long")
    check(wait_until(lambda: not any(name_of(pid) == "shardlab-rank" for pid in ranks), 5), "ranks are left")


def test_a_text_shorter_than_a_sequence():
    place = Place()
    (place.path / "short.txt").write_text("ten bytes.")
    result = place.run("run", place.scenario(), "--set", "train.data=short.txt", timeout=60)
    expect_error(result, 2, "short.txt", "10 tokens", "32")
    check(not place.db.exists(), "a refused run left a database")


def test_missing_data():
    place = Place()
    expect_error(place.run("run", place.scenario(), "--set", "train.data=missing.txt", timeout=60), 2, "missing.txt")
    text = TINY.format(name="tiny", ranks=2, strategy="fsdp2", steps=3).replace(", data: assets/data/licenses.txt", "")
    expect_error(place.run("run", place.scenario(text=text), timeout=60), 2, "train.data")


def safetensors(tensors, data):
    header = json.dumps(tensors).encode()
    return struct.pack("<Q", len(header)) + header + data


def test_broken_safetensors():
    place = Place()
    whole = place.path / "whole.safetensors"
    expect(place.run("run", place.scenario(), "--save-weights", whole), 0)
    content = whole.read_bytes()
    broken = place.path / "broken.safetensors"
    entry = {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}
    for name, text in (("truncated data", content[:-100]), ("truncated header", content[:40]), ("nothing", b""),
                       ("a huge header", struct.pack("<Q", 1 << 62) + content[8:]), ("no JSON", struct.pack("<Q", 8) + b"not json"),
                       ("a text", b"not a safetensors file at all\n" * 10),
                       ("wrong sizes", safetensors({"lm_head.weight": entry}, b"\0" * 8)),
                       ("other tensors", safetensors({"other": entry}, b"\0" * 16))):
        broken.write_bytes(text)
        begin = time.monotonic()
        result = place.run("run", place.scenario(), "--set", f"model.weights={broken}", timeout=60)
        print(f"        {name}: {result.err.splitlines()[0] if result.err else result.err} ({time.monotonic() - begin:.1f} s)")
        expect_error(result, 2, "broken.safetensors")


def test_weights_of_another_shape():
    place = Place()
    weights = place.path / "weights.safetensors"
    expect(place.run("run", place.scenario(), "--save-weights", weights), 0)
    result = place.run("run", place.scenario(), "--set", f"model.weights={weights}", "--set", "model.overrides.intermediate_size=128")
    expect_error(result, 2, "weights.safetensors", "mlp.")


def test_no_room_for_the_weights_or_the_database():
    place = Place()
    result = place.run("run", place.scenario(), "--save-weights", place.path / "missing" / "weights.safetensors", timeout=60)
    check(result.code in (2, 3) and "missing" in result.err, "a folder that is not there", result)
    result = place.run("run", place.scenario(), largest_file=2048, timeout=60)
    check(result.code in (3, 4) and result.err.startswith("error: "), "a full disk", result)
    expect(place.run("run", place.scenario()), 0)


def test_more_memory_than_the_machine_has_is_no_crash():
    place = Place()
    result = place.run("run", place.scenario(), "--set", "model.overrides.vocab_size=1000000000", "--set",
                       "model.overrides.hidden_size=4096", "--set", "model.overrides.head_dim=16", timeout=120)
    check(result.code in (3, 4) and result.err.startswith("error: "), "no clear message", result)


main(globals())
