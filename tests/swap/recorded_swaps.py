"""ZeRO-3 with its optimizer on a drive: the plans swap what DeepSpeed 0.19.8 swapped (tests/data/swaps), in its order.

One argument, a folder, takes the place of tests/data/swaps.
"""
# processors: 1
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from _comparison import differences, scenario_of
from _shardlab import SOURCE, Place, check, expect, expect_error, main

FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE / "tests/data/swaps"
RECORDINGS, COUNTS = 18, (11, 16)  # the latter: with which DeepSpeed trained, and failed


def test_plans_swap_what_deepspeed_swapped():
    files = sorted(each for each in FOLDER.glob("*.json") if each.stem != "buffer_counts")
    equal = 0
    for file in files:
        try:
            found = differences(file.stem, json.loads(file.read_text()))
        except Exception as error:  # of this recording; the others are compared all the same
            found = [f"{type(error).__name__}: {error}"]
        equal += not found
        for each in found:
            print(f"{file.stem}: {each}")
    print(f"{equal} of {len(files)} recordings equal")
    check(len(sys.argv) > 1 or len(files) == RECORDINGS, f"{len(files)} recordings, not {RECORDINGS}")
    check(equal == len(files), "the plans differ from what was recorded")


def counted_scenario(place, data, case):
    optimizer = {"buffer_count": case["buffers"], "pipeline_read": case["pipeline_read"], "pipeline_write": case["pipeline_write"]}
    deepspeed = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": case["accumulation"], "gradient_clipping": 1.0,
                 "bf16": {"enabled": True},
                 "zero_optimization": {"stage": 3, "sub_group_size": case["sub_group_size"], "offload_optimizer": optimizer}}
    return scenario_of(place, deepspeed, data["config"], data["sequence_length"])


def test_as_many_buffers_as_deepspeed_needs():
    """Counts with which DeepSpeed failed are refused and the smallest that trained is named; those with which it trained are planned."""
    data = json.loads((SOURCE / "tests/data/swaps/buffer_counts.json").read_text())
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
