"""`import` of the logs of other programs' trainings: measured runs with the figures that their lines add up to, and logs that are none."""
# processors: 1

import json
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
from _shardlab import SOURCE, Place, check, expect, expect_error, main  # noqa: E402

LOGS = SOURCE / "tests" / "data" / "logs"
GIB = 1 << 30
TITAN = "[rank{rank}]:[titan] 2025-06-16 22:{minute:02}:{second:02},000 - root - INFO - step: {step:2}  loss: {loss:8.5f}  " \
        "grad_norm:  1.0000  memory: {memory:5.2f}GiB(50.00%)  tps: {tps:,}  tflops: 10.00  mfu: 40.00%\n"


def titan(step, second, rank=0, loss=5.0, memory=10.0, tps=1000):
    return TITAN.format(rank=rank, minute=second // 60, second=second % 60, step=step, loss=loss, memory=memory, tps=tps)


def imported(place, text, name="train.log", *options):
    file = place.path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return expect(place.run("import", file, *options, "--json"), 0).json()


def at(document, path):
    for name in path.split("."):
        document = document[int(name) if name.lstrip("-").isdigit() else name]
    return document


def close(a, b):
    """Equal, of times to a microsecond: logs print hundredths of milliseconds at most."""
    return abs(a - b) <= 1000 if isinstance(a, int) and isinstance(b, float) else a == b


def test_logs_of_every_program():
    """expected.json holds what the lines of a file add up to, worked out from them by hand."""
    for name, figures in json.loads((LOGS / "expected.json").read_text()).items():
        place = Place()
        document = expect(place.run("import", LOGS / name, "--json"), 0).json()
        check(document["kind"] == "measured", f"{name}: {document['kind']}")
        for path, value in figures.items():
            found = at(document, path)
            check(close(found, value), f"{name}: {path} is {found}, and not {value}")
        stored = expect(place.run("show", "last", "--json"), 0).json()
        for path in figures:
            check(at(stored, path) == at(document, path), f"{name}: {path} is stored as {at(stored, path)}")


def test_what_is_unknown_is_no_zero():
    place = Place()
    shown = expect(place.run("import", LOGS / "trainer_state_checkpoint.json"), 0)
    check(" 0 ns" not in shown.out and " 0 B" not in shown.out and "of the step" not in shown.out, "an unknown figure is shown", shown)
    for lack in ("peak of allocated memory", "how many ranks", "what ran when"):
        check(lack in shown.out, f"it is not said that {lack} is unknown", shown)
    document = expect(place.run("show", "last", "--json"), 0).json()
    for name in ("ranks", "exposed_communication_ns", "tokens_per_second", "skipped_steps", "memory", "mfu"):
        if name != "tokens_per_second":
            check(document[name] is None, f"{name} is {document[name]}")
    entry = expect(place.run("history", "--json"), 0).json()["runs"][0]
    check(entry["exposed_communication_ns"] is None and entry["ranks"] is None and entry["tags"] == ["imported"], f"{entry}")
    shown = expect(place.run("history"), 0)
    check("0 B" not in shown.out, "an unknown peak is listed", shown)


def test_ranks_in_one_log_are_disentangled():
    place = Place()
    lines = []
    for step in range(1, 9):
        ranks = list(range(4))
        random.Random(step).shuffle(ranks)
        lines += [titan(step, 2 * step, rank, loss=9 - step, memory=10 + rank) for rank in ranks]
    document = imported(place, "".join(lines))
    check(document["ranks"] == 4 and document["step_time_ns"] == {"median": 2000000000, "min": 2000000000, "max": 2000000000, "n": 5},
          f"{document['step_time_ns']}")
    check(document["memory"]["peak_rank"] == 3 and document["memory"]["peak_reserved"] == 13 * GIB, document["memory"])
    check(document["tokens_per_second"] == 4000 and document["losses"] == [8, 7, 6, 5, 4, 3, 2, 1], f"{document}")
    # The same by ranks that nobody names: a step that comes four times is no new start.
    document = imported(place, re.sub(r"\[rank\d\]:", "", "".join(lines)))
    check(document["step_time_ns"]["n"] == 5 and not any("started" in each for each in document["leaves_out"]), f"{document}")


def test_a_log_of_several_starts():
    """Steps 1 to 10, then again from 6 on; of a step that ran twice the later loss is kept, and no time spans the two."""
    place = Place()
    first = [titan(step, 2 * step, loss=step) for step in range(1, 11)]
    again = [titan(step, 600 + 3 * step, loss=100 + step) for step in range(6, 16)]
    document = imported(place, "".join(first + again))
    # Of the first start steps 4 to 10 of 2 s, of the second 9 to 15 of 3 s.
    check(document["step_time_ns"] == {"median": 2500000000, "min": 2000000000, "max": 3000000000, "n": 14}, document["step_time_ns"])
    check(document["losses"] == [1, 2, 3, 4, 5, *range(106, 116)], document["losses"])
    check(any("started 2 times" in each for each in document["leaves_out"]), document["leaves_out"])


def import_several(place, files, *options):
    for name, text in files.items():
        file = place.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return place.run("import", *(place.path / name for name in files), *options)


def unsigned(step, second, **figures):
    return titan(step, second, **figures).replace("[rank0]:", "")


def test_several_logs_of_ranks():
    """A file a rank: as torchrun's --log-dir names them, as people do, and by names that say nothing."""
    for names in (["attempt_0/{}/stdout.log"], ["rank{}.log"], ["train-rank-{}.txt"], ["node-a{}.log"]):
        place = Place()
        files = {names[0].format(rank): "".join(unsigned(step, 2 * step, loss=9 - step, memory=10 + rank) for step in range(1, 9)) for rank in range(4)}
        document = expect(import_several(place, files, "--json"), 0).json()
        check(document["step_time_ns"] == {"median": 2000000000, "min": 2000000000, "max": 2000000000, "n": 5}, f"{names}: {document['step_time_ns']}")
        check(document["losses"] == [8, 7, 6, 5, 4, 3, 2, 1], document["losses"])
        check(not any("started" in each for each in document["leaves_out"]), document["leaves_out"])
        check("4 files are read as ranks of one training" in document["assumes"], document["assumes"])
        named = "node" not in names[0]
        check(document["ranks"] == (4 if named else None), f"{names}: {document['ranks']}")
        check(document["memory"]["peak_reserved"] == 13 * GIB and document["memory"]["peak_rank"] == (3 if named else None), document["memory"])
    # One of two streams has no steps.
    place = Place()
    files = {f"attempt_0/{rank}/{stream}.log": "".join(unsigned(step, 2 * step) for step in range(1, 9)) if stream == "stderr" else "hello\n"
             for rank in range(2) for stream in ("stdout", "stderr")}
    document = expect(import_several(place, files, "--json"), 0).json()
    check(document["ranks"] == 2 and document["step_time_ns"]["n"] == 5, document)


def test_several_logs_of_starts():
    """As a log of several starts, in two files, whichever is named first; a size in a name is no rank."""
    first = "".join(titan(step, 2 * step, loss=step) for step in range(1, 11))
    again = "".join(titan(step, 600 + 3 * step, loss=100 + step) for step in range(6, 16))
    for files in ({"slurm-17.out": first, "slurm-18.out": again}, {"lora_rank64-b.log": again, "lora_rank64-a.log": first}):
        document = expect(import_several(Place(), files, "--json"), 0).json()
        check(document["step_time_ns"] == {"median": 2500000000, "min": 2000000000, "max": 3000000000, "n": 14}, document["step_time_ns"])
        check(document["losses"] == [1, 2, 3, 4, 5, *range(106, 116)], document["losses"])
        check("2 files are read as parts of one training, one after the other" in document["assumes"], document["assumes"])
    shown = expect(import_several(Place(), {"a.log": first, "b.log": again}), 0)
    check("parts of one training" in shown.out, "how they are read is not said", shown)


def test_logs_beside_other_files():
    place = Place()
    log = "".join(titan(step, 2 * step) for step in range(1, 9))
    state = (LOGS / "trainer_state_checkpoint.json").read_text()
    expect_error(import_several(place, {"a.log": log, "config.yaml": "distributed_type: FSDP\n"}), 2, "is no log, and others are")
    expect_error(import_several(place, {"a.log": log, "trainer_state.json": state}), 2, "tells the whole training")
    expect_error(import_several(place, {"a.log": log, "b.log": ""}), 2, "is empty")


def test_bytes_that_are_no_text_and_ends_of_lines():
    place = Place()
    lines = [titan(step, 2 * step).encode() for step in range(1, 9)]
    broken = b"\xff\xfe\x80 \x1b[31mred\x1b[0m \x00\n".join(lines)
    check(imported(place, broken)["step_time_ns"]["n"] == 5, "broken UTF-8 hides lines")
    check(imported(place, b"\r\n".join(lines))["step_time_ns"]["n"] == 5, "carriage returns hide lines")
    check(imported(place, "".join(line.decode() for line in lines).encode("utf-16"))["step_time_ns"]["n"] == 5, "UTF-16 hides lines")
    shown = expect(place.run("import", LOGS / "torchtitan_colours.log"), 0)
    check("\x1b" not in shown.out, "colours of a log reach the terminal", shown)


def test_progress_bars_tell_times():
    """Bars show whole seconds: times are those over 20 s at least, and the first steps are left out."""
    place = Place()
    bar = "\r {share:3}%|####      | {step}/100 [{minutes:02}:{seconds:02}<01:00,  4.00s/it]"
    bars = "".join(bar.format(share=step, step=step, minutes=4 * step // 60, seconds=4 * step % 60) for step in range(101))
    text = "Map: 100%|####| 9000/9000 [09:00<00:00, 10.0s/it]\n" + bars + "\n{'loss': 2.5, 'grad_norm': 1.4, 'learning_rate': 1e-05, 'epoch': 1.0}\n"
    document = imported(place, text)
    check(document["step_time_ns"] == {"median": 4000000000, "min": 4000000000, "max": 4000000000, "n": 95}, document["step_time_ns"])
    check(any("progress bars" in each for each in document["assumes"]), document["assumes"])


def test_lines_of_version_4():
    place = Place()
    text = "".join(f"{{'loss': {5 - k / 10}, 'grad_norm': 1.4, 'learning_rate': 1e-05, 'epoch': {k / 100}}}\n" for k in range(1, 6))
    text += "{'train_runtime': 812.2, 'train_samples_per_second': 3.94, 'train_steps_per_second': 0.616, 'train_loss': 1.7, 'epoch': 1.0}\n"
    document = imported(place, text)
    check(document["losses"] == [4.9, 4.8, 4.7, 4.6, 4.5] and document["steps_per_loss"] is None, f"{document['losses']}")
    check(document["step_time_ns"]["n"] == 500 and abs(document["step_time_ns"]["median"] - 1624400000) < 1000000, document["step_time_ns"])
    check(any("first steps" in each for each in document["leaves_out"]), document["leaves_out"])


def test_a_run_of_a_scenario_compares_with_its_prediction():
    place = Place()
    scenario = place.scenario("tiny", ranks=2, steps=8)
    text = pathlib.Path(scenario).read_text().replace("steps: 8}", "steps: 8, tolerance: {step_time: 10000%, peak_allocated: 1%}}")
    pathlib.Path(scenario).write_text(text)
    # 2 ranks, 2 samples of 32 tokens each: 128 tokens in 2 s.
    lines = "".join(titan(step, 2 * step, rank, tps=32) for step in range(1, 9) for rank in range(2))
    document = imported(place, lines, "train.log", "--onto", scenario)
    check(document["ranks"] == 2 and document["tokens_per_second"] == 64, f"{document}")
    check(not any("tokens" in each or "ranks" in each for each in document["leaves_out"]), document["leaves_out"])
    compared = expect(place.run("diff", scenario, "r1"), 0)
    for part in ("step_time", "tokens_per_second", "verdict: pass"):
        check(part in compared.out, f"{part} is not compared", compared)
    compared = expect(place.run("diff", scenario, "r1", "--json"), 0).json()
    metrics = {each["name"]: each for each in compared["metrics"]}
    check(metrics["step_time"]["measured"] == 2e9 and metrics["peak_allocated"]["verdict"] == "not judged", metrics)
    check(metrics["exposed_communication"]["measured"] is None and compared["same_plan"] is True, metrics["exposed_communication"])
    check(not any(name.startswith("communication.") and each["measured"] == 0 for name, each in metrics.items()), f"{metrics}")
    shown = expect(place.run("show", "r1"), 0)
    check("beside its prediction" in shown.out and "verdict: pass" in shown.out, "no prediction is shown beside it", shown)
    check("exposed_communication" not in shown.out, "a figure that the log does not have is compared", shown)
    beside = expect(place.run("show", "r1", "--json"), 0).json()["beside_prediction"]
    check({each["name"]: each for each in beside["metrics"]} == {name: metrics[name] for name in ("step_time", "tokens_per_second")}, beside)
    for command in (("show", "r1", "--scenario"), ("trace", "r1"), ("history",)):
        expect(place.run(*command), 0)
    expect_error(place.run("show", "r1", "--peak"), 2, "not when")
    expect_error(place.run("show", "r1", "--ranks"), 2, "who meets whom is not known")


def test_a_log_of_another_training_is_not_judged():
    place = Place()
    scenario = place.scenario("tiny", ranks=2)
    text = pathlib.Path(scenario).read_text().replace("steps: 3}", "steps: 3, tolerance: {step_time: 10%}}")
    pathlib.Path(scenario).write_text(text)
    lines = "Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=1, ep=1\n"
    lines += "".join(titan(step, 2 * step, tps=5000) for step in range(1, 9))
    (place.path / "other.log").write_text(lines)
    shown = expect(place.run("import", place.path / "other.log", "--onto", scenario), 0)
    for part in ("8 ranks, the scenario of 2", "5,000 tokens per second of a rank"):
        check(part in shown.err, f"no warning of {part}", shown)
    shown = expect(place.run("show", "last"), 0)
    check("not judged" in shown.out and "8 ranks, the scenario of 2" in shown.out, "judged beside its prediction", shown)


def test_a_run_whose_scenario_cannot_be_predicted_any_more_is_shown():
    place = Place()
    model = place.path / "own.json"
    model.write_text((SOURCE / "assets" / "models" / "tiny-llama" / "config.json").read_text())
    scenario = place.path / "own.yaml"
    scenario.write_text(f"model: {{config: {model}, sequence_length: 32}}\ncluster: {{device: cpu, ranks: 2}}\nparallel: {{strategy: fsdp2}}\n")
    imported(place, "".join(titan(step, 2 * step) for step in range(1, 9)), "train.log", "--onto", scenario)
    model.unlink()
    shown = expect(place.run("show", "last"), 0)
    check("step time" in shown.out and "beside" not in shown.out and "no prediction beside it: " in shown.err, "not so", shown)


def test_logs_without_a_step():
    place = Place()
    for name, text in {"none.log": "hello\nworld\n", "start.out": "Traceback (most recent call last):\nRuntimeError: no\n", "empty.log": ""}.items():
        (place.path / name).write_text(text)
        expect_error(place.run("import", place.path / name), 2, "is empty" if not text else "no line of a training step")
    (place.path / "state.json").write_text('{"log_history": [{"eval_loss": 1.0, "step": 5}], "global_step": 5}')
    expect_error(place.run("import", place.path / "state.json"), 2, "no loss in its log_history")
    (place.path / "cut.json").write_text('{"log_history": [{"loss": 1.0, "st')
    expect_error(place.run("import", place.path / "cut.json"), 2, "is damaged")
    (place.path / "two.log").write_text(titan(1, 1))
    expect_error(place.run("import", place.path / "two.log", place.path / "two.log"), 2, "two.log: is named twice")
    expect_error(place.run("import", place.path / "two.log", "-o", "x.yaml"), 2, "a log becomes a run")
    expect_error(place.run("import", place.path / "two.log", "--set", "train.steps=3"), 2, "--onto S")


def test_numbers_that_no_training_has():
    place = Place()
    strange = ["step: 99999999999999999999  loss: 1  memory: 1GiB(1%)  tps: 1\n", "step: -3  loss: nan  memory: -1GiB  tps: -5\n",
               "epoch=0/micro_step=1/global_step=1, RunningAvgSamplesPerSec=nan, CurrSamplesPerSec=0.0, MemAllocated=infGB, MaxMemAllocated=1e99GB\n",
               "time (ms) | fwd: nan | bwd: -1 | step: 1e300\n", "{'loss': nan, 'train_runtime': -1, 'step': 1e300}\n",
               " 50%|#| 99999999999999999999/5 [99:99<\n", "[config.py:1:print]   world_size ........ 0\n", "Building 1-D device mesh with ['dp'], [0, -1\n"]
    document = imported(place, "".join(strange) + "".join(titan(step, 2 * step) for step in range(1, 9)))
    check(document["step_time_ns"]["median"] == 2000000000 and document["memory"]["peak_reserved"] == 10 * GIB, f"{document}")


def test_a_large_log():
    """100 MB of chatter with a step here and there, in seconds and little memory."""
    place = Place()
    chatter = "".join(f"[rank0]:[titan] 2025-06-16 22:00:00,000 - root - INFO - shard {k} of the data is read\n" for k in range(20000))
    with open(place.path / "large.log", "w", encoding="utf-8") as file:
        for step in range(1, 60):
            file.write(titan(step, 2 * step) + chatter)
    result = expect(place.run("import", place.path / "large.log", "--json", most_memory=1 << 30), 0)
    check(result.json()["step_time_ns"]["n"] == 56 and result.seconds < 30, f"{result.seconds} s")


main(globals())
