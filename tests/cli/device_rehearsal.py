"""Everything around a GPU, with a processor in its place (tests/rehearsal): scenarios of GPUs trained in the order and with the arithmetic of devices,
compared with runs on processors, with predictions, and looked at with the commands that users have.
"""

import json
import os
import pathlib
import re
import shutil
import sys

import _shardlab
from _shardlab import Place, check, expect, main, needs_torch

needs_torch()

BUILD = pathlib.Path(os.environ["SHARDLAB_BUILD"])
GPUS = "cluster={gpu: H100-SXM, gpus_per_node: 2}"


def rehearsal():
    """A folder in which the program finds the rehearsed rank's program beside itself."""
    rank = BUILD / "rehearsal/shardlab-rank-cuda"
    if not rank.exists():
        print(f"skipped: there is no {rank}")
        sys.exit(_shardlab.SKIP)
    place = Place()
    shutil.copy2(BUILD / "bin/shardlab", place.path)
    for program in (BUILD / "bin/shardlab-rank", rank):
        (place.path / program.name).symlink_to(program)
    _shardlab.PROGRAM = str(place.path / "shardlab")
    return place


HERE = rehearsal()


def trained(strategy, *settings):
    place = Place()
    scenario = place.scenario(strategy=strategy)
    more = [part for setting in settings for part in ("--set", setting)]
    host = expect(place.run("run", scenario, "--json", *more), 0).json()
    device = expect(place.run("run", scenario, "--json", *more, "--set", GPUS), 0).json()
    return place, host, device


def test_a_device_trains_what_processors_train():
    for strategy, *settings in (("fsdp2",), ("fsdp1",), ("native",), ("ddp",), ("fsdp2", "train.accumulation=2"),
                                ("fsdp2", "activation={checkpoint: full}")):
        _, host, device = trained(strategy, *settings)
        worst = max(abs(a - b) / abs(b) for a, b in zip(device["losses"], host["losses"]))
        print(f"        {strategy} {' '.join(settings)}: largest difference of losses {worst:.1e}")
        check(len(device["losses"]) == len(host["losses"]) and worst < 1e-5, f"{device['losses']} {host['losses']}")


def test_predicted_beside_measured():
    place = Place()
    result = place.run("validate", place.scenario(), "--no-calibrate", "--json", "--set", GPUS)
    check(result.code in (0, 1), "it ends without a verdict", result)
    metrics = {metric["name"]: metric for metric in result.json()["metrics"]}
    peak = metrics["peak_allocated"]
    print(f"        peak allocated: predicted {peak['predicted']}, measured {peak['measured']}")
    # The operators of devices, on a processor, have temporaries that a GPU's kernels do not have.
    check(0 <= peak["measured"] / peak["predicted"] - 1 < 0.25, f"{peak}")
    compared = expect(place.run("diff", "r1", "r2"), 0).out
    check("AllGather" in compared and "Backward" in compared, compared)
    equal = re.search(r"live bytes after each instruction: ([\d,]+) of ([\d,]+) equal to the byte", compared)
    check(equal is not None and equal[1] == equal[2], compared)
    print("        " + equal[0])


def test_loads_of_experts_are_counted_on_a_device_too():
    place = Place()
    text = (f"name: mixture\nmodel: {{config: {_shardlab.SOURCE / 'tests/data/families/mixtral.json'}, sequence_length: 24}}\n"
            "cluster: {device: cpu, ranks: 2}\nparallel: {strategy: fsdp2}\n"
            "train: {micro_batch: 1, learning_rate: 1e-3, data: assets/data/licenses.txt}\nmeasure: {warmup_steps: 1, steps: 2}\n")
    loads = []
    for more in ((), ("--set", GPUS)):
        file = place.path / f"load{len(loads)}.json"
        expect(place.run("run", place.scenario(text=text), "--save-load", file, *more), 0)
        loads.append(json.loads(file.read_text())["layers"])
    check(loads[0] == loads[1] and len(loads[0]) == 2, f"{loads}")


def test_operators_are_timed_on_a_device():
    place = Place()
    more = ("--set", GPUS, "--set", "measure.detail=operators")
    run = expect(place.run("run", place.scenario(), "--json", *more), 0).json()
    times = {(op["operation"], op["direction"]): op for op in run["operators"]}
    # No fused kernel of that GPU takes float32 with shared key heads: torch computes the formula.
    check(times["linear", "forward"]["calls"] == 15 and times["eager_math_attention", "backward"]["calls"] == 2, f"{times}")
    check(0 < sum(op["time_ns"] for op in times.values()) <= run["step_time_ns"]["max"], f"{times} {run['step_time_ns']}")


def test_streams_are_lanes_of_the_timeline():
    place, _, _ = trained("fsdp2")
    file = place.path / "trace.json"
    expect(place.run("trace", "last", "--output", str(file)), 0)
    text = file.read_text()
    for stream in ("compute", "all_gather", "reduce_scatter"):
        check(stream in text, f"no {stream} among the lanes")


def test_benchmarks_of_a_device():
    place = Place()
    result = expect(place.run("bench", "collectives", "--cluster", GPUS.split("=", 1)[1], "--seconds", "5", timeout=120), 0)
    check("H100 rehearsed" in result.out and "all_gather" in result.out, result.out)


main(globals())
