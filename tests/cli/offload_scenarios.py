"""The scenarios of scenarios/offload: what state in host memory costs and saves, in bytes, and what the setting that each names changes."""
# processors: 1
from _shardlab import SOURCE, Place, check, expect, expect_error, main

FOLDER = SOURCE / "scenarios/offload"
LLAMA = 8030261248  # parameters of Llama-3-8B
ROOT = 2 * 128256 * 4096 + 4096  # embedding, head and last norm: the root keeps them after forward


def settings_of(settings):
    return [part for setting in settings for part in ("--set", setting)]


def predicted(name, *settings):
    return expect(Place().run("simulate", FOLDER / name, "--no-store", "--no-calibration", "--json", *settings_of(settings)), 0).json()


def moved(run, start, end):
    return sum(row["bytes"] for row in run["transfers"] if row["from"] == start and row["to"] == end)


def space(run, name):
    return next(row for row in run["memory"]["spaces"] if row["space"] == name)


def test_offload_makes_a_model_fit():
    run = predicted("fsdp2-70b-8xh100.yaml")
    check(run["fits"] == "yes", f"{run['fits']}")
    check(predicted("fsdp2-70b-8xh100.yaml", "offload.parameters=none")["fits"] == "no", "without offload")
    parameters = sum(row["bytes"] for row in run["transfers"] if row["to"] == "pinned_host")  # each gradient once, 4 bytes
    check(space(run, "device")["between"] < 1 << 24 and space(run, "pinned_host")["between"] == parameters, "only constants rest on the device")
    check(space(run, "pageable_host")["between"] == 2 * parameters, "two moments, which torch.optim does not pin")
    small = predicted("fsdp2-70b-8xh100.yaml", "cluster={gpu: H100-SXM, gpus_per_node: 8, host: {memory: 1TiB}}")
    check(small["fits"] == "no" and "host memory" in small["fit_reason"], f"a node of 1 TiB is too small: {small['fit_reason']}")


def test_fsdp1_copies_a_gathered_unit_again():
    once = 4 * LLAMA // 8
    again = predicted("fsdp1-copies-again.yaml")
    check(moved(again, "pinned_host", "device") == 2 * once, "every shard twice, the root's too")
    check(moved(again, "device", "pinned_host") == once, "every gradient once")
    fsdp2 = predicted("fsdp1-copies-again.yaml", "parallel.strategy=fsdp2")
    check(moved(fsdp2, "pinned_host", "device") == 2 * once - 4 * ROOT // 8, "FSDP2 takes the root once")
    check(moved(fsdp2, "device", "pinned_host") == once, "every gradient once")


def test_pageable_memory_is_slower():
    pageable = predicted("pageable.yaml")
    pinned = predicted("pageable.yaml", "offload.pin=true")
    check(moved(pageable, "pageable_host", "device") == moved(pinned, "pinned_host", "device"), "the same bytes")
    check(pageable["step_time_ns"]["median"] > 1.5 * pinned["step_time_ns"]["median"], "and a longer step")
    check(space(pinned, "pinned_host")["peak"] == 2 * 4 * LLAMA // 8, "parameters and gradients are page-locked")


LLAMA_70B = 70553706496


def test_a_drive_takes_the_optimizer():
    run = predicted("zero3-nvme-70b.yaml")
    of_rank = LLAMA_70B // 8
    check(abs(space(run, "disk")["between"] / (16 * of_rank) - 1) < 0.001, "master, moments and nearly all gradients rest on the drive")
    for ends in (("disk", "pinned_host"), ("pinned_host", "disk")):
        check(abs(moved(run, *ends) / (16 * of_rank) - 1) < 0.001, f"and move once {ends}")
    host = predicted("zero3-nvme-70b.yaml", "offload={optimizer: cpu, parameters: cpu}", "cluster.nvme={}")
    spaces = [sum(space(each, name)["peak"] for name in ("pinned_host", "pageable_host")) for each in (run, host)]
    check(spaces[0] < spaces[1] / 4, f"a quarter of the host memory: {spaces}")
    check(run["step_time_ns"]["median"] > 2 * host["step_time_ns"]["median"], "for a step more than twice as long")
    check(not any("trains wrongly" in each for each in run["assumes"]), "every gradient begins at a sector")
    slow = predicted("zero3-nvme-70b.yaml", "offload={optimizer: nvme, parameters: cpu}")
    check(slow["step_time_ns"]["median"] > 1.05 * run["step_time_ns"]["median"], "overlap pays")
    fast = predicted("zero3-nvme-70b.yaml", "cluster.nvme.read=200GB/s", "cluster.nvme.write=100GB/s")
    check(fast["step_time_ns"]["median"] < 0.6 * run["step_time_ns"]["median"], "so do faster drives")
    odd = predicted("zero3-nvme-70b.yaml", "cluster={node: dgx-h100, gpus_per_node: 7, nvme: {path: /local_nvme}}")
    check(any("trains wrongly" in each for each in odd["assumes"]), f"what DeepSpeed misreads is told: {odd['assumes']}")


def test_too_few_staging_buffers():
    expect_error(Place().run("simulate", FOLDER / "zero3-nvme-70b.yaml", "--set", "offload.buffers=11"), 2, "offload.buffers", "needs 12")


def gathered(run):
    return sum(total["bytes"] for total in run["communication"] if total["kind"] == "AllGather")


def near(value, wanted):  # parts are rounded up, parameter by parameter or bucket by bucket
    return abs(value / wanted - 1) < 1e-4


def test_zero2_keeps_weights_on_the_device_and_the_optimizer_on_the_host():
    run = predicted("zero2-optimizer.yaml")
    check(near(moved(run, "device", "pinned_host"), 4 * LLAMA / 8), "gradients leave in float32, each rank's part")
    check(near(moved(run, "pinned_host", "device"), 2 * LLAMA / 8), "weights come back in bfloat16")
    largest = 128256 * 4096  # of the parameters: scratch of both sides
    check(near(space(run, "pinned_host")["between"], (4 + 4 + 2) * LLAMA / 8 + 2 * largest), "master, gradients, updated weights")
    check(near(space(run, "pageable_host")["between"], 8 * LLAMA / 8), "two moments")
    tables = 4 * 2 * 4096 * 64  # cosines and sines
    check(near(space(run, "device")["between"], 2 * LLAMA + 2 * largest + tables), "weights alone rest on the device")
    without = predicted("zero2-optimizer.yaml", "offload.optimizer=none")
    check(gathered(run) == gathered(without), "the collectives are those without offload")


def test_zero2_adds_up_micro_batches_through_the_device():
    run = predicted("zero2-optimizer.yaml", "train.accumulation=3")
    check(near(moved(run, "device", "pinned_host"), (3 * 2 + 4) * LLAMA / 8), "each sum goes out, the last in float32 too")
    check(near(moved(run, "pinned_host", "device"), (2 * 2 + 2) * LLAMA / 8), "two sums come back, and the weights")
    last = predicted("zero2-optimizer.yaml", "train.accumulation=3", "parallel.strategy=zero1")
    check(near(moved(last, "device", "pinned_host"), 4 * LLAMA / 8), "ZeRO-1 reduces once, with the last micro-batch")


def test_zero3_takes_each_shard_from_the_host_for_each_gather():
    run = predicted("zero3-both-70b.yaml")
    parameters = space(run, "pageable_host")["between"] / 12 * 8  # master and two moments
    check(near(moved(run, "device", "pinned_host"), (2 + 4) * parameters / 8), "gradients leave in bfloat16, and in float32")
    check(near(moved(run, "pinned_host", "device"), (2 * parameters + gathered(run)) / 8), "gradients come back; a shard for each gather")
    optimizer = predicted("zero3-both-70b.yaml", "offload.parameters=none")
    check(near(moved(optimizer, "pageable_host", "device"), 2 * parameters / 8), "updated weights, from memory that is not page-locked")


def test_refusals_say_why():
    for settings, words in ((["parallel.strategy=zero2"], "on the device below stage 3"),
                            (["offload={optimizer: cpu}"], "together"), (["offload={parameters: cpu, ratio: 50%}"], "ratio"),
                            (["parallel.strategy=ddp"], "cpu with ddp"), (["parallel.strategy=fsdp1"], "always pins")):
        refused = Place().run("plan", FOLDER / "pageable.yaml", *settings_of(settings))
        expect_error(refused, 2, words)
    alone = Place().run("plan", FOLDER / "zero3-both-70b.yaml", *settings_of(["offload.optimizer=none"]))
    expect_error(alone, 2, "the optimizer on the device", "offload.optimizer: cpu as well")


main(globals())
