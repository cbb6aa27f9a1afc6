"""Options, commands, exit codes, errors as JSON, output into a pipe."""
# processors: 1

import re
import subprocess
import time

from _shardlab import PROGRAM, SOURCE, Place, check, expect, expect_error, main

DOCUMENT = SOURCE / "docs" / "commands.md"


def commands():
    """The names that the program lists."""
    overview = expect(Place().run("--help"), 0).out
    return re.findall(r"^  ([a-z]+) +.*$", overview, re.MULTILINE)


def test_help_lists_every_command_that_is_documented():
    text = DOCUMENT.read_text(encoding="utf-8")
    listed = commands()
    check({"simulate", "run", "gui", "lesson"} <= set(listed), f"the overview lists {listed}")
    headings = [line for line in text.splitlines() if line.startswith("### ")]
    documented = {name for line in headings for name in re.findall(r"`([a-z]+)", line)}
    check(documented == set(listed) - {"version"}, f"documented {documented}, listed {listed}")


def test_every_command_has_help():
    place = Place()
    for command in commands():
        text = expect(place.run(command, "--help"), 0).out
        for option in ("--json", "--quiet", "--verbose", "--help"):
            check(option in text, f"{command} --help does not show {option}")


def test_version():
    place = Place()
    check(expect(place.run("--version"), 0).out.startswith("shardlab "), "no version")
    check("version" in expect(place.run("version", "--json"), 0).json(), "no version in JSON")


def test_no_command_is_an_error():
    expect(Place().run(), 2)


def test_unknown_command_names_the_nearest():
    expect_error(Place().run("simulte", "a.yaml"), 2, "simulte", "did you mean 'simulate'?")


def test_unknown_command_names_the_one_that_is_meant():
    for theirs, ours in (("compare", "diff"), ("fit", "simulate"), ("run-all", "run"), ("train", "run"), ("plot", "gui"), ("estimate", "simulate"),
                         ("tune", "search")):
        expect_error(Place().run(theirs, "a.yaml"), 2, theirs, f"did you mean '{ours}' (")


def test_unknown_option_names_the_nearest():
    place = Place()
    expect_error(place.run("plan", "--stp", "first", place.scenario()), 2, "--stp", "did you mean '--step'?")
    expect_error(place.run("history", "--set", "a=1"), 2, "--set")
    expect_error(place.run("plan", place.scenario(), "-x"), 2, "-x")


def test_missing_and_surplus_arguments():
    place = Place()
    expect_error(place.run("plan"), 2, "scenario")
    expect_error(place.run("plan", place.scenario(), "more"), 2, "more")
    expect_error(place.run("plan", place.scenario(), "--step"), 2, "--step")
    expect_error(place.run("plan", place.scenario(), "--explain", "many"), 2, "--explain")


def test_options_may_stand_before_the_command():
    place = Place()
    document = expect(place.run("--set", "train.seed=2", "--json", "plan", place.scenario()), 0).json()
    check("plan_hash" in document, "no plan")


def test_errors_as_json():
    place = Place()
    for arguments, code in ((["plan", "missing.yaml", "--json"], 2), (["simulte", "--json"], 2), (["plan", "--json", "--stp"], 2),
                            (["lesson", "--json", "nowhere"], 2)):
        result = expect(place.run(*arguments), code)
        error = result.json()["error"]
        check(set(error) >= {"kind", "where", "what", "hint", "exit_code"}, f"fields: {sorted(error)}")
        check(error["exit_code"] == code, f"exit_code is {error['exit_code']}")
        check(result.err.count("error: ") == 1 and error["what"] in result.err, "stderr does not say the same once", result)


def test_a_reader_that_leaves_is_no_error():
    place = Place()
    scenario = place.scenario(text=None)
    process = subprocess.Popen([PROGRAM, "plan", scenario, "--json", "--set", "model.overrides.num_hidden_layers=64"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=place.environment())
    process.stdout.read(1)
    process.stdout.close()
    error = process.stderr.read().decode()
    check(process.wait(timeout=60) == 0 and error == "", f"code {process.returncode}, stderr: {error}")


def test_a_pipe_is_not_cut():
    """Nobody can make a pipe or a file wider, and what greps in it finds only what is there."""
    place = Place()
    name = "a-name-that-says-much-of-what-is-different-in-this-training"
    expect(place.run("simulate", place.scenario(name=name)), 0)
    wide = place.environment()
    del wide["COLUMNS"]
    check(name in expect(place.run("history", env=wide), 0).out, "cut without COLUMNS")
    narrow = expect(place.run("history"), 0).out
    check(name not in narrow and name[:9] in narrow, "COLUMNS is not taken", narrow)


def test_a_full_device_is_an_error():
    place = Place()
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = place.run("plan", place.scenario(), stdout=full)
    expect_error(result, 3, "stdout", "No space left")


def test_starts_in_milliseconds():
    place = Place()
    times = []
    for _ in range(10):
        begin = time.monotonic()
        expect(place.run("version"), 0)
        times.append(time.monotonic() - begin)
    print(f"        version: {min(times) * 1000:.1f} ms")
    check(min(times) < 0.2, f"the fastest of ten starts took {min(times):.3f} s")


def test_a_process_that_gets_no_memory_says_what_needed_it():
    place = Place()
    text = """model: {config: tiny-llama, sequence_length: 64, overrides: {num_hidden_layers: 4}}
cluster: {node: hgx-h100}
parallel: {strategy: fsdp2}
train: {micro_batch: 1}
"""
    many = ("--set", "train.accumulation=6000")
    planned = place.run("plan", place.scenario(text=text), *many, most_memory=500 << 20)
    expect_error(planned, 3, "shardlab plan: this process gets no more memory for planning the ", "it had ", "4 layers, 6000 micro-batches",
                 "lower train.accumulation", "limit of the process")
    check(re.search(r"[1-9][0-9]{4,} instructions so far", planned.err), "no number of instructions", planned)
    document = place.run("plan", place.scenario(text=text), *many, "--json", most_memory=500 << 20)
    check(document.json()["error"]["kind"] == "not_possible" and "planning" in document.out, "as JSON", document)


main(globals())
