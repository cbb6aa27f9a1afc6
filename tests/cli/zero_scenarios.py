"""The scenarios of scenarios/zero: what DeepSpeed's defaults cost, in bytes, and what the setting that each names changes."""
# processors: 1
from _shardlab import SOURCE, Place, check, expect, main

FOLDER = SOURCE / "scenarios/zero"
LLAMA = 8030261248  # parameters of Llama-3.1-8B
LLAMA_70 = 70553706496  # of Llama-3.1-70B


def settings_of(settings):
    return [part for setting in settings for part in ("--set", setting)]


def predicted(name, *settings):
    return expect(Place().run("simulate", FOLDER / name, "--no-store", "--no-calibration", "--json", *settings_of(settings)), 0).json()


def collectives(name, *settings, kind):
    plan = expect(Place().run("plan", FOLDER / name, "--json", *settings_of(settings)), 0).json()
    return [i["bytes"] for i in plan["instructions"] if i["kind"] == kind and len(i["group"]) > 1]


def buffers(name, *settings):
    plan = expect(Place().run("plan", FOLDER / name, "--json", "--buffers", *settings_of(settings)), 0).json()
    return {buffer["name"]: buffer for buffer in plan["buffers"]}


def test_zero2_sends_three_times_the_weights():
    sent = sum(kind["sent"] for kind in predicted("zero2-default-bucket.yaml")["communication"]) / 8 / (2 * LLAMA)
    check(abs(sent - 3 * 7 / 8) < 1e-3, f"{sent} numbers a parameter with 8 ranks")
    gathered, reduced = (collectives("zero2-default-bucket.yaml", kind=kind) for kind in ("AllGather", "AllReduce"))
    check(gathered == [2 * LLAMA], f"{gathered}")
    check(sum(reduced) == 2 * LLAMA + 1 + 4, "gradients in bfloat16, the overflow byte and the norm")


def test_a_bucket_is_memory_whatever_lies_in_it():
    def taken(*settings):
        plan = expect(Place().run("plan", FOLDER / "zero2-default-bucket.yaml", "--json", "--buffers", *settings_of(settings)), 0).json()
        elements = {buffer["name"]: buffer["elements"] for buffer in plan["buffers"]}
        return [sum(elements[name] for name in i["allocates"]) for i in plan["instructions"] if i["kind"] == "Alloc"]
    check(len(taken()) > 15 and set(taken()) == {500000000}, f"{taken()}")
    check(set(taken("parallel.zero={reduce_bucket_size: 1000}")) == {1000}, "the setting changes it")
    plan = expect(Place().run("plan", FOLDER / "zero2-default-bucket.yaml", "--json", "--set", "parallel.zero={overlap_comm: true}"), 0).json()
    kinds = [i["kind"] for i in plan["instructions"]]
    first = kinds.index("Alloc")
    check(kinds[first:first + 2] == ["Alloc", "Alloc"], "two buckets are taken with overlap_comm")


def test_a_small_zero3_gathers_once():
    gathers = lambda *settings: sum(collectives("zero3-never-releases.yaml", *settings, kind="AllGather"))
    once = gathers()
    check(gathers("parallel.zero={stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0, stage3_prefetch_bucket_size: 0}") == 2 * once,
          "released parameters are gathered for backward again")


def test_thresholds_keep_parameters_whole():
    def whole_at_rest(*settings):
        return sum(buffer["elements"] for name, buffer in buffers("zero3-thresholds.yaml", *settings).items()
                   if name.startswith("full.") and buffer["carried"])
    norms = 65 * 4096
    check(whole_at_rest("parallel.zero={}") == norms, f"1e5 elements keep the norms: {whole_at_rest('parallel.zero={}')}")
    check(whole_at_rest() == norms + 32 * (2 * 4096 * 4096 + 2 * 1024 * 4096), f"2e7 keep the projections of attention: {whole_at_rest()}")


def test_a_tied_head_gathers_the_embedding():
    releases = "parallel.zero={stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0, stage3_prefetch_bucket_size: 0}"
    gathers = lambda *settings: collectives("zero3-never-releases.yaml", releases, *settings, kind="AllGather")
    tied = "model.overrides.tie_word_embeddings=true"
    check(gathers() == gathers(tied), "in forward and backward, as one of its own")
    held = lambda *settings: sum(name.startswith("shard.") for name in buffers("zero3-never-releases.yaml", *settings))
    check(held() == held(tied) + 1, "and one parameter less rests on the ranks")


def count(values, part):
    return sum(values[i:i + len(part)] == part for i in range(len(values)))


def test_an_adapter_is_gathered_with_the_layer_around_it():
    """peft's layer asks its A for a dtype: DeepSpeed gathers A first, before what the layer wraps."""
    releases = "{stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0, stage3_prefetch_bucket_size: 0}"
    a, b, base = 2 * 688 * 4, 256 * 2 * 4, 256 * 688 * 4
    gathers = collectives("../first/tiny-llama.yaml", "parallel={strategy: zero3, zero: %s}" % releases,
                          "model.lora={rank: 2, targets: [down_proj]}", kind="AllGather")
    check(count(gathers, [a, base, b]) == 6, f"forward of six layers: {gathers}")
    check(count(gathers, [a, b, base]) == 5, f"backward, but of the first, before which nothing is trained: {gathers}")


def test_a_recomputed_frozen_layer_stays_whole_until_backward_leaves_its_last_module():
    releases = "{stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0, stage3_prefetch_bucket_size: 0}"
    settings = ["parallel={strategy: zero3, zero: %s}" % releases, "activation.checkpoint=full"]
    whole = collectives("../first/tiny-llama.yaml", *settings, kind="AllGather")
    frozen = collectives("../first/tiny-llama.yaml", *settings, "model.frozen=[model.layers.5.mlp, model.layers.5.self_attn]", kind="AllGather")
    check(len(whole) == len(frozen), "what was recomputed is gathered again by its own backward, frozen or not")
    plan = expect(Place().run("plan", FOLDER / "../first/tiny-llama.yaml", "--json", *settings_of(settings),
                              "--set", "model.frozen=[model.layers.5.mlp, model.layers.5.self_attn]"), 0).json()
    most = max(sum(name.startswith("full.") for name in i["frees"]) for i in plan["instructions"])
    check(most == 7, f"the seven products of the layer go together, not {most}")


def test_round_robin_gives_neighbours_to_different_ranks():
    def first_bucket(*settings):
        return buffers("../first/tiny-llama.yaml", "parallel.strategy=zero2", "precision.param=bfloat16", *settings)
    plain, robin = first_bucket(), first_bucket("parallel.zero={round_robin_gradients: true}")
    check(plain.keys() == robin.keys() and plain["weights"]["elements"] == robin["weights"]["elements"], "the same memory in another order")


def test_gradients_may_travel_in_another_dtype():
    sent = lambda *settings: sum(collectives("../first/tiny-llama.yaml", "parallel.strategy=zero2", "precision.param=bfloat16", *settings, kind="AllReduce"))
    check(sent("parallel.zero={communication_data_type: fp32}") > 1.99 * sent(), "float32 for bfloat16 is twice as much")


def test_float16_looks_for_overflow_and_takes_the_scale_out_at_the_end():
    plan = expect(Place().run("plan", FOLDER / "../first/tiny-llama.yaml", "--json", "--set", "parallel.strategy=zero3", "--set", "precision.param=float16",
                              "--set", "train={clip_norm: null}"), 0).json()
    kinds = [i["kind"] for i in plan["instructions"]]
    check(kinds.index("CheckFinite") < kinds.index("GradientNorms") < kinds.index("Unscale") < kinds.index("OptimizerStep"), f"{kinds[-25:]}")


def instructions(name, *settings):
    return expect(Place().run("plan", FOLDER / name, "--json", *settings_of(settings)), 0).json()["instructions"]


def test_backward_gathers_among_neighbours():
    def gathers(*settings):
        """The sizes of the groups that gather before and after backward begins."""
        steps = instructions("zero3-neighbours.yaml", *settings)
        begin = next(at for at, i in enumerate(steps) if i["kind"] == "Backward")
        end = next(at for at, i in enumerate(steps) if i["kind"] == "OptimizerStep")
        of = lambda part: {len(i["group"]) for i in part if i["kind"] == "AllGather"}
        return of(steps[:begin]), of(steps[begin:end])
    check(gathers() == ({64}, {8}), f"a node's GPUs gather for backward: {gathers()}")
    check(gathers("parallel.zero={}") == ({64}, {64}), "without it all do")
    parts = sum(buffer["bytes"] for name, buffer in buffers("zero3-neighbours.yaml").items() if name.startswith("secondary."))
    check(abs(parts / (2 * LLAMA_70 / 8) - 1) < 1e-3, f"{parts} bytes: an eighth of the weights")


def test_quantised_weights_are_half_of_what_is_gathered():
    gathered = lambda zero: sum(collectives("zero3-neighbours.yaml", "parallel.zero={%s}" % zero, kind="AllGather"))
    plain, eight_bits = gathered(""), gathered("zero_quantized_weights: true")
    check(0.5 < eight_bits / plain < 0.51, f"{eight_bits} bytes of {plain}: eight bits a number, and a scale a block")


def test_quantised_gradients_are_exchanged_within_nodes_and_between_them():
    exchanged = instructions("zero3-neighbours.yaml", "parallel.zero={zero_quantized_gradients: true, communication_data_type: fp16}")
    numbers = LLAMA_70 / 2  # bytes of all gradients in four bits; norms are none of them, and scales a thousandth more
    for place in ("shard/8", "shard:8"):
        sent = sum(i["bytes"] for i in exchanged if i["kind"] == "AllToAll" and len(i["group"]) == 8 and i["group"][1] - i["group"][0] == (1 if place == "shard/8" else 8))
        check(0.999 < sent / numbers < 1.01, f"{sent} bytes over {place}, {numbers} expected")
        numbers /= 8


def test_owners_receive_their_gradients_alone():
    apart = instructions("zero2-default-bucket.yaml", "parallel.zero={use_multi_rank_bucket_allreduce: false}")
    reduced = [i for i in apart if i["kind"] == "Reduce"]
    check(sum(i["bytes"] for i in reduced) == 2 * LLAMA, "every gradient once")
    check({i["root"] for i in reduced} == set(range(8)), "to all ranks in turn")
    check(sum(i["bytes"] for i in apart if i["kind"] == "AllReduce") == 1 + 4, "and no bucket to everybody")


def test_float32_sums_under_zero1_are_whole_on_every_rank():
    sums = buffers("zero2-default-bucket.yaml", "parallel.strategy=zero1", "parallel.zero={grad_accum_dtype: fp32}")
    check(sums["float32_sums"]["bytes"] == 4 * LLAMA and sums["float32_sums"]["carried"], f"{sums['float32_sums']}")


def test_a_block_of_experts_is_gathered_whole():
    """48 layers; with checkpoints a block is gathered in forward and for its backward, the router alone once more in the recomputation."""
    router, experts = 2 * 128 * 2048, 2 * 128 * 3 * 768 * 2048
    at_once = "stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0, stage3_prefetch_bucket_size: 0"
    leaf = collectives("zero3-experts.yaml", f"parallel.zero={{{at_once}}}", kind="AllGather")
    none = collectives("zero3-experts.yaml", f"parallel.zero={{leaf_module: {{classes: []}}, {at_once}}}", kind="AllGather")
    check(leaf.count(router + experts) == 96 and leaf.count(router) == leaf.count(experts) == 0, f"{set(leaf)}")
    check(none.count(router) == 144 and none.count(experts) == 96, f"{set(none)}")


main(globals())
