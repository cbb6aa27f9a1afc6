"""`run`: a real training run, its fields, its files."""

import json
import struct

from _processes import ranks_of, wait_for_training, wait_until
from _shardlab import Place, check, check_run, expect, expect_error, main, needs_torch

needs_torch()


def test_fields_and_their_types():
    place = Place()
    for strategy, ranks in (("fsdp2", 2), ("ddp", 2), ("none", 1)):
        result = expect(place.run("run", place.scenario(strategy=strategy, ranks=ranks), "--json"), 0)
        document = result.json()
        check_run(document, "measured")
        steady = 2 if strategy == "ddp" else 3  # DDP rebuilds its buckets before the second step, which then counts as warm-up
        check(document["step_time_ns"]["n"] == steady, f"{document['step_time_ns']}")
        check(len(document["losses"]) == 4, f"one loss a step, warm-up too: {document['losses']}")
        check(len(document["gradient_norms"]) == 4, f"{document['gradient_norms']}")
        check(all(3 < loss < 7 for loss in document["losses"]), f"a byte model starts near ln 256 = 5.5: {document['losses']}")


def test_the_plan_is_the_one_that_plan_prints():
    place = Place()
    scenario = place.scenario()
    plan = expect(place.run("plan", scenario, "--json"), 0).json()
    measured = expect(place.run("run", scenario, "--json"), 0).json()
    predicted = expect(place.run("simulate", scenario, "--json"), 0).json()
    check(measured["plan_hash"] == plan["plan_hash"] == predicted["plan_hash"], "three hashes")
    planned = [dict(one, counted=None) for one in measured["communication"]]
    check(planned == predicted["communication"], "the collectives differ")
    check(all(one["counted"] == one["sent"] for one in measured["communication"]), "what was sent is not what the plan says")


def test_the_loss_falls():
    place = Place()
    losses = expect(place.run("run", place.scenario(steps=30), "--json", "--set", "train.learning_rate=3e-3"), 0).json()["losses"]
    check(sum(losses[-5:]) / 5 < losses[0] - 0.5, f"{losses}")


def test_two_runs_train_alike():
    place = Place()
    scenario = place.scenario()
    first, second = (expect(place.run("run", scenario, "--json"), 0).json()["losses"] for _ in range(2))
    check(all(abs(a - b) <= 1e-5 * abs(a) for a, b in zip(first, second)), f"{first}\n{second}")


def tensors_of(file):
    with open(file, "rb") as stream:
        (length,) = struct.unpack("<Q", stream.read(8))
        header = json.loads(stream.read(length))
    header.pop("__metadata__", None)
    return header


def test_saved_weights_have_the_checkpoints_names():
    place = Place()
    scenario = place.scenario()
    file = place.path / "weights.safetensors"
    expect(place.run("run", scenario, "--save-weights", file), 0)
    saved = tensors_of(file)
    model = expect(place.run("model", scenario, "--json"), 0).json()
    named = {p["name"]: p["shape"] for module in model["modules"] for p in module["parameters"]}
    check({name: tensor["shape"] for name, tensor in saved.items()} == named, "names or shapes differ")
    again = expect(place.run("run", scenario, "--json", "--set", f"model.weights={file}"), 0).json()
    check(again["losses"][0] < 5.5, f"the weights were not read: {again['losses']}")


def test_freed_memory_is_never_read():
    place = Place()
    scenario = place.scenario()
    plain, poisoned = (expect(place.run("run", scenario, "--json", *more), 0).json()["losses"] for more in ([], ["--poison"]))
    check(all(abs(a - b) <= 1e-5 * abs(a) for a, b in zip(plain, poisoned)), f"{plain}\n{poisoned}")


def test_spools_are_kept_when_asked():
    place = Place()
    spools = place.path / "spools"
    expect(place.run("run", place.scenario(), "--keep-spool", spools), 0)
    check(len([file for file in spools.rglob("*") if file.is_file()]) >= 2, f"{list(spools.rglob('*'))}")


def test_an_interrupt_ends_every_rank():
    import signal
    place = Place()
    process = place.start("run", place.scenario(steps=100000))
    ranks = wait_for_training(process, 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    check(process.returncode == 4 and "interrupted" in err, f"code {process.returncode}: {err}")
    check(wait_until(lambda: not any(pid in ranks_of(1) for pid in ranks), 10), "ranks are left")
    expect_error(place.run("show", "last"), 2)


main(globals())
