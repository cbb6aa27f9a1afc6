"""Somebody about to rent nodes of eight H100 for a Llama-3-70B: how many, which settings? Five commands."""
# processors: 1

from _answers import GIB, User, check, main, near, setting_of

SEVENTY = """name: seventy
model: {config: llama-3-70b, sequence_length: 4096}
cluster: {node: hgx-h100, nodes: 8}
parallel: {strategy: fsdp2}
precision: {param: bfloat16, reduce: float32}
activation: {checkpoint: full}
train: {micro_batch: 1, accumulation: 8}
"""


def test_a_planner_gets_a_right_first_answer():
    user = User()
    scenario = user.place.scenario("seventy", text=SEVENTY)

    # Whole float32 gradients of 70.6e9 parameters, because accumulation reduces the last micro-batch alone.
    first = user.predict(scenario)
    check(first["fits"] == "no" and first["implementation"] == "eager", f"{first['fits']} {first['implementation']}")
    check(first["memory"]["by_class"]["gradient"] > 70.5e9 * 4, f"{first['memory']['by_class']}")
    every = setting_of(first, "train.sync=every")
    check(every is not None and every["fits"] == "yes", f"{first['alternatives']}")

    # Shards: (4 + 8) bytes of 70.6e9 parameters over 64 ranks are 12.3 GiB; inputs of 80 layers, the head, two layers gathered.
    eight = user.predict(scenario, "train.sync=every")
    check(eight["fits"] == "yes", f"{eight['fits']}")
    check(eight["memory"]["peak_allocated"] == every["peak_allocated"], "the alternative was another prediction")
    near(eight["memory"]["by_class"]["parameter_shard"] + eight["memory"]["by_class"]["optimizer_state"], 12 * 70.55e9 / 64, 0.01,
         "shards and states")

    # Half the nodes hold twice the shards, and take a little less than twice the time for the same tokens.
    four = user.predict(scenario, "train.sync=every", "cluster.nodes=4", "train.accumulation=16")
    check(four["fits"] == "yes", f"{four['fits']}")
    slower = four["step_time_ns"]["median"] / eight["step_time_ns"]["median"]
    check(1.8 < slower < 2.05, f"four nodes take {slower:.2f} times as long as eight")

    # Two nodes do not: 16 bytes of 70.6e9 parameters over 16 ranks, shards of gradients among them, are 65.7 GiB of 79.2.
    two = user.predict(scenario, "train.sync=every", "cluster.nodes=2")
    held = two["memory"]["by_class"]
    near(held["parameter_shard"] + held["optimizer_state"] + held["gradient_shard"], 70.55e9, 0.01, "what is sharded")
    check(two["fits"] == "no", f"{two['fits']}")

    # In bfloat16 throughout it fits there, and somebody who does that knows why not to: the verdict leaves room for what is not modelled.
    narrow = user.predict(scenario, "train.sync=every", "cluster.nodes=2", "model.dtype=bfloat16")
    check(narrow["fits"] == "yes" and narrow["fit_probability"] > 0.99, f"{narrow['fits']} {narrow['fit_probability']}")
    memory = narrow["memory"]
    check(memory["peak_allocated"] + GIB < memory["peak_reserved"] < memory["peak_device"] < memory["device_high"], f"{memory}")
    user.done(5)


def test_the_words_say_what_the_figures_say():
    user = User()
    text = user.ask("simulate", user.place.scenario("seventy", text=SEVENTY), "--no-store").out
    for part in ("with one key changed", "train.sync=every", "model.implementation=fused", "as PyTorch's and transformers'",
                 "save full (not asked for)"):
        check(part in text, f"{part} is missing", text)


# A name of the Hub without its owner, the GPU as nvidia-smi prints it, nodes as clouds call them.
RENTED = """model: {config: Llama-3.3-70B-Instruct, sequence_length: 4096}
cluster: {gpu: NVIDIA H100 80GB HBM3, gpus_per_node: 8, nodes: 8}
parallel: {strategy: FSDP2}
precision: {param: bfloat16, reduce: float32}
activation: {checkpoint: full}
train: {micro_batch: 1}
"""


def test_names_as_drivers_and_clouds_write_them():
    user = User()
    scenario = user.place.scenario("rented", text=RENTED)
    own = user.predict(scenario)
    for node, rate in (("p5.48xlarge", 400), ("Standard_ND96isr_H100_v5", 400), ("a3-megagpu-8g", 200), ("a3-highgpu-8g", 100)):
        cloud = user.predict(scenario, f"cluster={node}", "cluster.nodes=8")
        check(cloud["memory"]["peak_allocated"] == own["memory"]["peak_allocated"], f"{node}: another GPU")
        slower = cloud["exposed_communication_ns"] > own["exposed_communication_ns"]
        check(slower or rate == 400, f"{node}: {rate} GB/s a node are as fast as 400")
    user.done(5)


main(globals())
