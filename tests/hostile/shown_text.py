"""Names, paths and files of others in what is printed: a terminal obeys none of it, our own colours stay, and --json says it as it is."""
# processors: 1

import json
import os
import pty
import subprocess

from _watched import Place, check, check_shown, watch

from _shardlab import PROGRAM, SOURCE, expect, main

# A title for the window, a cleared screen, another colour, the sequence of one byte, DEL; and bytes that are no text.
OBEYED = "\x1b]0;owned\x07\x1b[2J\x1b[31m\u009b2J\x7f"
IN_YAML = r'"\e]0;owned\a\e[2J\e[31m\x9b2J\x7f"'
NO_TEXT = b"\xff\xe2\x82 \x9b2J"
OF_A_PATH = b"no\x1b]0;owned\x07" + NO_TEXT
COLOURS = [f"\x1b[{code}m" for code in (0, 1, 2, 31, 32, 33)]


def hostile_scenario(place):
    text = open(place.scenario(), encoding="utf-8").read().replace("name: tiny", f"name: {IN_YAML}\ndescription: {IN_YAML}")
    return place.scenario("named", text=text)


def shown(place, *arguments, codes=(0, 1, 2, 3), says="\\u001b]0;owned"):
    watched = watch(place, *arguments)
    check(watched.code in codes, f"the exit code is none of {codes}", watched)
    check_shown(watched)
    check(says.encode() in watched.out + watched.err, f"'{says}' is not shown", watched)
    return watched


def test_names_of_scenarios_and_runs():
    place = Place()
    scenario = hostile_scenario(place)
    shown(place, "scenario", scenario, codes=(0,))
    for command in (["plan", scenario, "--units"], ["simulate", scenario], ["explain", "memory", scenario], ["explain", "time", scenario]):
        shown(place, *command, codes=(0,), says="")
    place.scenario("second")
    expect(place.run("simulate", "second.yaml"), 0)
    shown(place, "show", "1", "--note", OBEYED, codes=(0,))
    for command in (["history"], ["show", "1"], ["show", "1", "--scenario"]):
        shown(place, *command, codes=(0,), says="owned" if "--scenario" in command else "\\u001b]0;")
    shown(place, "history", "--tag", OBEYED, codes=(0,), says="")
    shown(place, "show", "1", "--add-tag", OBEYED, codes=(2,), says="")  # a tag holds none of it
    for command in (["diff", "1", "2"], ["doctor", scenario], ["doctor", "1"], ["doctor", scenario, "--format", "sarif"],
                    ["trace", "1"], ["trace", "1", "--format", "csv"], ["export", scenario, "--to", "torchrun", "--print"]):
        shown(place, *command, says="")


def test_a_scenario_that_is_printed_reads_back():
    place = Place()
    scenario = hostile_scenario(place)
    written = watch(place, "scenario", scenario, "--write")
    check_shown(written)
    (place.path / "again.yaml").write_bytes(written.out)
    for file in (scenario, "again.yaml"):
        expect(place.run("simulate", file), 0)
    names = {run["name"] for run in expect(place.run("history", "--json"), 0).json()["runs"]}
    check(names == {OBEYED}, f"{names}")


def test_paths_and_arguments():
    place = Place()
    scenario = place.scenario()
    path = os.fsencode(place.path) + b"/" + OF_A_PATH
    says = "\\u001b]0;owned\\u0007\\xff\\xe2\\x82 \\x9b2J"
    for command in (["plan"], ["simulate"], ["import"], ["replay"], ["search"], ["recommend"], ["backtest"], ["lesson"], ["export"],
                    ["calibrate", "--refit"], ["doctor", "--as", "log"], ["diff", scenario], ["explain", "memory"]):
        shown(place, *command, path, codes=(2, 3), says=says)
    shown(place, "model", path, codes=(2,), says="")
    shown(place, "history", "--db", path + b"/runs.db", codes=(2, 3), says=says)
    shown(place, "plan", scenario, "--set", b"train.micro_batch=" + OF_A_PATH, codes=(2,), says=says)
    shown(place, "plan", scenario, "--set", b"train." + OF_A_PATH + b"=1", codes=(2,), says=says)
    shown(place, "plan", scenario, b"--" + OF_A_PATH, codes=(2,), says=says)
    shown(place, OF_A_PATH, codes=(2,), says=says)
    expect(place.run("simulate", scenario), 0)
    shown(place, "show", OF_A_PATH, codes=(2,), says=says)
    with open(path, "wb") as file:
        file.write(open(scenario, "rb").read())
    shown(place, "scenario", path, codes=(0,), says=says)
    shown(place, "export", path, "--to", "torchrun", "-o", place.path / "out", says="")


def test_files_of_others():
    place = Place()
    files = {
        "accelerate.yaml": f"distributed_type: FSDP\nnum_processes: 2\n{IN_YAML}: 1\nfsdp_config: {{fsdp_version: {IN_YAML}}}\n".encode(),
        "ds_config.json": json.dumps({"train_batch_size": 8, "zero_optimization": {"stage": OBEYED}, OBEYED: OBEYED}).encode(),
        "start.sh": b"torchrun --nproc-per-node 2 " + OBEYED.encode() + b" train.py --" + NO_TEXT + b" x\n",
        "config.json": json.dumps({"model_type": OBEYED, "hidden_size": OBEYED}).encode(),
        "job.log": b"[rank0]: torch.OutOfMemoryError: CUDA out of memory. " + OBEYED.encode() + NO_TEXT + b"\n" + OBEYED.encode() + b": failed\n",
        "train.py": b"fully_shard(model)  # " + OBEYED.encode() + NO_TEXT + b"\nfor layer in model.layers:\n    fully_shard(layer)\n",
        "ops.json": json.dumps({"ops": [["m", OBEYED, 1048576], [OBEYED, "a"]]}).encode(),
        "table.csv": b"id,metric," + OBEYED.encode() + b"\n" + NO_TEXT + b",1,2\n",
        "q.yaml": f"scenario: {IN_YAML}\nvary: {{{IN_YAML}: [1]}}\n".encode(),
    }
    for name, content in files.items():
        (place.path / name).write_bytes(content)
    lesson = place.path / "lesson"
    lesson.mkdir()
    (lesson / "lesson.yaml").write_text(f"title: {IN_YAML}\nminutes: 5\nable: {IN_YAML}\nscenarios: {{a: {IN_YAML}}}\nsteps: [{{text: {IN_YAML}}}]\n")
    for command in (["import", "accelerate.yaml"], ["import", "ds_config.json"], ["import", "start.sh"], ["model", "config.json"],
                    ["doctor", "accelerate.yaml"], ["doctor", "ds_config.json"], ["doctor", "start.sh"], ["doctor", "job.log"],
                    ["doctor", "train.py"], ["replay", "ops.json"], ["backtest", "table.csv", "--no-store"], ["search", "q.yaml"],
                    ["lesson", "lesson", "--check"], ["lesson", "lesson"], ["import", "accelerate.yaml", "--onto", "q.yaml"]):
        shown(place, *command, says="")


def test_traces_of_others():
    place = Place()
    trace = json.loads((SOURCE / "tests/data/profiler/cuda_rank0.json").read_text())
    for event in trace["traceEvents"]:
        if event.get("cat") == "kernel":
            event["name"] += OBEYED
    (place.path / "trace.json").write_text(json.dumps(trace))
    for command in (["import", "trace.json", "--name", OBEYED], ["show", "last"], ["history"], ["trace", "last", "--format", "csv"]):
        shown(place, *command, codes=(0,), says="")


def in_terminal(place, *arguments):
    """All that the program writes to a terminal, as text; broken characters raise."""
    ours, theirs = pty.openpty()
    environment = place.environment(TERM="xterm")
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen([PROGRAM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=place.path)
    os.close(theirs)
    read = b""
    try:
        while piece := os.read(ours, 65536):
            read += piece
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    check(process.wait(timeout=60) in (0, 1, 2), f"exit code {process.returncode}: {read!r}")
    return read.decode("utf-8").replace("\r\n", "\n")


def test_our_own_colours_stay():
    place = Place()
    scenario = hostile_scenario(place)
    expect(place.run("simulate", scenario), 0)
    coloured = 0
    for command in (["history"], ["show", "1"], ["diff", "1", "1"], ["scenario", scenario], ["plan", os.fsencode(place.path) + b"/" + OF_A_PATH],
                    ["explain", "memory", scenario], ["simulate", scenario]):
        text = in_terminal(place, *command)
        for colour in COLOURS:
            coloured += text.count(colour)
            text = text.replace(colour, "")
        text = text.replace("\r\x1b[K", "")  # a progress line is taken back
        check("\x1b" not in text and "\x07" not in text and "\u009b" not in text and "\x7f" not in text, f"{command}: {text!r}")
    check(coloured > 10, "no colours in a terminal")


def test_documents_say_what_is_there():
    place = Place()
    scenario = hostile_scenario(place)
    expect(place.run("simulate", scenario, "--json"), 0)
    runs = expect(place.run("history", "--json"), 0).json()["runs"]
    check([run["name"] for run in runs] == [OBEYED], f"{runs}")
    missing = watch(place, "plan", os.fsencode(place.path) + b"/no\x1b[2J.yaml", "--json")
    check(json.loads(missing.out)["error"]["file"].endswith("/no\x1b[2J.yaml"), "the file has another name", missing)
    check_shown(missing)


main(globals())
