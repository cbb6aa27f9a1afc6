"""The load of experts: a real run writes what it saw, a prediction takes it up, and nothing else of the prediction changes."""

import json

from _shardlab import SOURCE, Place, check, expect, expect_error, main, needs_torch

needs_torch()

MIXTURE = """name: mixture
model: {{config: {config}, sequence_length: 24}}
cluster: {{device: cpu, ranks: {ranks}}}
parallel: {{strategy: {strategy}}}
train: {{micro_batch: {batch}, accumulation: 2, learning_rate: 1e-3, data: assets/data/licenses.txt}}
measure: {{warmup_steps: 1, steps: 3}}
"""


def mixture(place, name="mixture", ranks=2, strategy="fsdp2", batch=1, family="mixtral"):
    config = SOURCE / f"tests/data/families/{family}.json"
    return place.scenario(name, text=MIXTURE.format(config=config, ranks=ranks, strategy=strategy, batch=batch))


def recorded(place, scenario, *more):
    file = place.path / "load.json"
    expect(place.run("run", scenario, "--save-load", file, *more), 0)
    return json.loads(file.read_text())["layers"]


def test_every_assignment_is_counted_once():
    place = Place()
    layers = recorded(place, mixture(place))
    check([layer["module"] for layer in layers] == ["model.layers.0.mlp.experts", "model.layers.1.mlp.experts"], f"{layers}")
    for layer in layers:
        check(len(layer["assignments"]) == 5, f"{layer}")
        check(sum(layer["assignments"]) == 4 * 2 * 2 * 24 * 2, f"steps x ranks x micro-batches x tokens x experts of a token: {layer}")


def test_ranks_add_up_and_recomputation_counts_nothing():
    place = Place()
    one = recorded(place, mixture(place, ranks=1, strategy="none", batch=2))
    two = recorded(place, mixture(place), "--set", "activation.checkpoint=full")
    first = [sum(abs(a - b) for a, b in zip(x["assignments"], y["assignments"])) for x, y in zip(one, two)]
    check(max(first) <= 4, f"the same tokens in the same training, up to rounding: {one}, {two}")


def test_a_prediction_takes_the_recorded_load():
    place = Place()
    scenario = mixture(place)
    layers = recorded(place, scenario)
    settings = ("--set", f"model.moe={{load: measured, measured: {place.path / 'load.json'}}}")
    plain = expect(place.run("simulate", scenario, "--json", "--no-store"), 0).json()
    measured = expect(place.run("simulate", scenario, "--json", "--no-store", *settings), 0).json()
    check(measured["plan_hash"] == plain["plan_hash"], "the load is part of the plan")
    check(measured["memory"]["peak_allocated"] == plain["memory"]["peak_allocated"], "memory depends on the load")
    check(measured["step_time_ns"]["median"] != plain["step_time_ns"]["median"], "the load changes nothing")
    listed = f"model.moe.load={[count for count in layers[0]['assignments']]}"
    expect(place.run("simulate", scenario, "--no-store", "--set", listed), 0)


def test_bad_loads_are_refused():
    place = Place()
    scenario = mixture(place)
    expect_error(place.run("simulate", scenario, "--set", "model.moe.load=[1, 1]"), 2, "2 shares where a layer has 5 experts")
    expect_error(place.run("simulate", scenario, "--set", "model.moe={load: measured, measured: none.json}"), 2, "none.json")
    expect_error(place.run("run", place.scenario(), "--save-load", place.path / "x.json"), 2, "this model has no experts")
    expect_error(place.run("run", scenario, "--save-load", place.path / "no" / "x.json"), 2, "there is no folder")


main(globals())
