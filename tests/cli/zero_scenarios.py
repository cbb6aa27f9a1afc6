"""The scenarios of scenarios/zero: what DeepSpeed's defaults cost, in bytes, and what the setting that each names changes."""
# processors: 1
from _shardlab import SOURCE, Place, check, expect, main

FOLDER = SOURCE / "scenarios/zero"
LLAMA = 8030261248  # parameters of Llama-3.1-8B


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
    check(gathers() == gathers(tied) and gathers().count(max(gathers())) == 4, "in forward and backward, as large as a head of its own")
    held = lambda *settings: sum(name.startswith("shard.") for name in buffers("zero3-never-releases.yaml", *settings))
    check(held() == held(tied) + 1, "and one parameter less rests on the ranks")


main(globals())
