"""PyTorch's own runs on a GPU (docs/measurements) beside what `simulate` says of their scenarios: peaks of allocated bytes within 1 % and of
reserved bytes within the target of 5 %, and the device's; of runs on one rank the step by the shipped figures and by the shipped calibration, which is printed and not judged.
Those of several ranks were rank 0 of a group without peers: their steps and the device's memory lack NCCL."""
# processors: 1
import json
import statistics

from _shardlab import SOURCE, Place, check, main

RUNS = json.loads((SOURCE / "docs/measurements/h200/pytorch_runs.json").read_text())["runs"]
LIMITS = {"peak_allocated": 0.01, "peak_reserved": 0.05}


def predicted(place, name, run, *options):
    file = place.path / f"{name}.yaml"
    file.write_text(json.dumps(run["scenario"]))
    done = place.run("simulate", str(file), "--no-store", "--json", *options)
    check(done.code == 0, done)
    return done.json()


def off(said, measured):
    return said / measured - 1


def test_peaks_of_memory():
    place, beyond = Place(), []
    for name, run in RUNS.items():
        memory = predicted(place, name, run)["memory"]
        errors = {figure: off(memory[figure], run[figure]) for figure in (*LIMITS, "peak_device")}
        print(f"        {name:26}" + "".join(f" {figure[5:]} {run[figure] / 2**30:6.2f} GiB {errors[figure]:+6.2%}" for figure in errors))
        beyond += [f"{name}: {figure} {errors[figure]:+.2%}" for figure, limit in LIMITS.items() if abs(errors[figure]) > limit]
    check(not beyond, "\n".join(beyond))


def test_steps():
    place, errors = Place(), {"shipped": [], "calibrated": []}
    for name, run in RUNS.items():
        if run["ranks"] > 1 or not run["losses_are_numbers"]:
            continue
        measured, words = run["step_seconds"], []
        for how, options in (("shipped", ["--no-calibration"]), ("calibrated", [])):
            said = predicted(place, name, run, *options)["step_time_ns"]["median"] / 1e9
            errors[how].append(abs(off(said, measured)))
            words.append(f"{how} {said * 1e3:.1f} ms {off(said, measured):+.1%}")
        print(f"        {name:26} step {measured * 1e3:.1f} ms, " + ", ".join(words))
    print("        median error: " + ", ".join(f"{how} {statistics.median(all):.1%}" for how, all in errors.items()))
    check(errors["shipped"], "no run of one rank")


main(globals())
