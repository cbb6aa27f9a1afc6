"""Figures of predictions, plans and models computed again by hand: from the models' published sizes, with plain arithmetic, never with shardlab.

Sources. Sizes: the models' config.json. Bytes: bfloat16 is 2, float32 is 4, AdamW keeps two float32 a parameter. Rings: a rank sends (n - 1) / n
of what it gathers or scatters, twice that to all-reduce (Thakur, Rabenseifner, Gropp 2005). Communication of a step: Rajbhandari et al. 2020
(ZeRO), section 7. FLOPs: Chowdhery et al. 2022 (PaLM), appendix B. Kept activations: what the kernels' backward passes read.
"""
# processors: 1

import os

from _answers import User, check, main, near

SOURCE = os.environ["SHARDLAB_SOURCE"]
LLAMA = os.path.join(SOURCE, "scenarios/first/llama3-8b-fsdp2-8xh100.yaml")
H100_BFLOAT16 = 989.4e12  # FLOP/s, dense, of the data sheet

COUNT = 0


def equal(actual, expected, what):
    global COUNT
    COUNT += 1
    check(actual == expected, f"{what}: {actual}, by hand {expected}")


def close(actual, expected, what):
    """For what is a quotient of times."""
    global COUNT
    COUNT += 1
    near(actual, expected, 1e-6, what)


class Llama:
    """Untied embeddings, no biases: Llama 3 of 8 and 70 billion parameters."""

    vocabulary = 128256

    def __init__(self, width, inner, key_width, heads, layers):
        self.width, self.inner, self.key_width, self.heads, self.layers = width, inner, key_width, heads, layers
        self.products = 2 * width * width + 2 * width * key_width + 3 * width * inner  # q, o; k, v; gate, up, down
        self.layer = self.products + 2 * width                                         # and two norms
        self.root = 2 * self.vocabulary * width + width                                # embeddings, head, last norm
        self.total = layers * self.layer + self.root


EIGHT = Llama(4096, 14336, 1024, 32, 32)
SEVENTY = Llama(8192, 28672, 1024, 64, 80)
TOKENS, RANKS = 4096, 8  # of a rank, in LLAMA


def by_kind(run, kind, group=None):
    return sum(entry["bytes"] for entry in run["communication"] if entry["kind"] == kind and group in (None, entry["group_size"]))


def sent(run, kind, group=None):
    return sum(entry["sent"] for entry in run["communication"] if entry["kind"] == kind and group in (None, entry["group_size"]))


def test_parameters():
    user = User()
    eight = user.ask("model", "llama-3-8b", "--json").json()["parameters"]
    equal(eight["per_layer"], EIGHT.layer, "a layer of Llama-3-8B")
    equal(eight["total"], EIGHT.total, "Llama-3-8B")
    seventy = user.ask("model", "llama-3-70b", "--json").json()["parameters"]
    equal(seventy["per_layer"], SEVENTY.layer, "a layer of Llama-3-70B")
    equal(seventy["total"], SEVENTY.total, "Llama-3-70B")

    # Qwen3-30B-A3B: 32 heads and 4 key-value heads of 128, 128 experts of which a token uses 8, norms of queries and keys.
    width, heads, key_heads, head, expert, layers, vocabulary = 2048, 32, 4, 128, 768, 48, 151936
    attention = 2 * width * heads * head + 2 * width * key_heads * head + 2 * head
    def model(experts):
        return layers * (attention + width * 128 + experts * 3 * width * expert + 2 * width) + 2 * vocabulary * width + width
    qwen = user.ask("model", "qwen3-30b-a3b", "--json").json()["parameters"]
    equal(qwen["total"], model(128), "Qwen3-30B-A3B")
    equal(qwen["active"], model(8), "Qwen3-30B-A3B, used by a token")

    # Llama-3.2-1B shares its embeddings with the head.
    small = Llama(2048, 8192, 512, 32, 16)
    equal(user.ask("model", "llama-3.2-1b", "--json").json()["parameters"]["total"], small.total - small.vocabulary * small.width, "Llama-3.2-1B")


def test_memory_of_a_rank():
    user = User()
    run = user.predict(LLAMA)
    held = run["memory"]["by_class"]
    equal(held["parameter_shard"], 4 * EIGHT.total // RANKS, "float32 shards of the parameters")
    equal(held["optimizer_state"], 2 * 4 * EIGHT.total // RANKS, "AdamW's moments")
    equal(held["gathered_parameters"], 2 * EIGHT.root, "the root, gathered in bfloat16, at the peak in the loss")
    equal(held["gather_buffer"], 2 * EIGHT.layer, "the next layer's")
    # In float32, as torch's cross entropy makes them, the gradients of the logarithms and of the logits; the logarithms are kept from forward.
    logits = TOKENS * EIGHT.vocabulary
    near(held["workspace"], 2 * 4 * logits, 0.01, "workspace of the loss")
    check(sum(held.values()) == run["memory"]["peak_allocated"], "the classes add up")

    plan = user.ask("plan", LLAMA, "--json").json()
    units = {unit["name"]: unit for unit in plan["units"]}
    equal(units["u0"]["gathered_bytes"], 2 * EIGHT.layer, "a gathered layer in bfloat16")
    equal(units["root"]["gathered_bytes"], 2 * EIGHT.root, "the gathered root")
    buffers = {buffer["name"]: buffer for buffer in plan["buffers"]}
    equal(buffers["rsin.u0"]["bytes"], 4 * EIGHT.layer, "a layer's gradient, to be reduced in float32")
    equal(buffers["gshard.u0"]["bytes"], 4 * EIGHT.layer // RANKS, "its shard")
    equal(plan["carried_bytes"] // (1 << 20), (12 * EIGHT.total // RANKS + 4 * 2 * TOKENS * 64) // (1 << 20), "alive between steps, and tables")

    # Under full checkpointing every layer keeps its input.
    full = user.predict(LLAMA, "activation.checkpoint=full")["memory"]["by_class"]["activation"]
    check(full >= EIGHT.layers * 2 * TOKENS * EIGHT.width, f"{full}")

    # Accumulation without reduction until the last micro-batch: whole gradients of layers in float32.
    last = user.predict(LLAMA, "train.accumulation=4", "train.sync=last")["memory"]["by_class"]["gradient"]
    near(last, 4 * EIGHT.total, 0.04, "whole float32 gradients")
    every = user.predict(LLAMA, "train.accumulation=4", "train.sync=every")["memory"]["by_class"]["gradient_shard"]
    equal(every, 4 * EIGHT.total // RANKS, "shards of gradients between micro-batches")


def test_a_layer_of_fused_kernels_keeps():
    user = User()
    model = user.ask("model", LLAMA, "--set", "model.implementation=fused", "--json").json()
    kept = sum(op["keeps_bytes"] for op in model["operators"] if op["module"].startswith("model.layers.7.") or op["module"] == "model.layers.7")
    norms = 2 * (2 * EIGHT.width + 4)                                     # input, and the float32 root mean square
    attention = 2 * (2 * EIGHT.width + 2 * EIGHT.key_width) + 4 * EIGHT.heads  # q, output, k, v; logarithms of sums
    products = 2 * (2 * EIGHT.width) + 2 * EIGHT.inner                    # inputs of q k v, of gate and up; of down
    swiglu = 2 * 2 * EIGHT.inner                                          # gate and up
    equal(kept, TOKENS * (norms + attention + products + swiglu), "kept by a layer")
    loss = next(op for op in model["operators"] if op["kind"] == "cross_entropy")
    head = next(op for op in model["operators"] if op["module"] == "lm_head")
    equal(loss["keeps_bytes"] // TOKENS, 2 * EIGHT.vocabulary + 12, "bfloat16 logits, a target and a float32 a token")
    equal(head["forward_flops"], 2 * TOKENS * EIGHT.vocabulary * EIGHT.width, "products of the head")
    equal(head["outputs"][0], [1, TOKENS, EIGHT.vocabulary], "logits")


def test_what_ranks_send():
    user = User()
    # FSDP2: every layer is gathered for forward and for backward, the root once; every gradient is scattered in float32.
    gathered = 2 * (2 * EIGHT.layers * EIGHT.layer + EIGHT.root)
    fsdp = user.predict(LLAMA)
    equal(by_kind(fsdp, "AllGather"), gathered, "FSDP2 gathers")
    equal(sent(fsdp, "AllGather"), gathered * (RANKS - 1), "all ranks send of it")
    equal(by_kind(fsdp, "ReduceScatter"), 4 * EIGHT.total, "FSDP2 reduces")
    share = (RANKS - 1) / RANKS
    close(fsdp["volume"]["sent"], share * (gathered / 2 + EIGHT.total) / EIGHT.total, "elements by those of the model")

    # HSDP of two times four: the same in groups of four, and the shards' gradients are all-reduced between two.
    hybrid = user.predict(LLAMA, "parallel.mesh={replicate: 2, shard: 4}")
    equal(by_kind(hybrid, "AllGather", 4), gathered, "HSDP gathers within four")
    equal(sent(hybrid, "AllGather", 4), gathered * 3 // 4 * RANKS, "and sends three quarters of it")
    equal(by_kind(hybrid, "AllReduce", 2), 4 * EIGHT.total // 4, "HSDP reduces shards between two")
    equal(sent(hybrid, "AllReduce", 2), 4 * EIGHT.total // 4 * RANKS, "and sends each once: 2 (n - 1) / n of two")
    equal(hybrid["memory"]["by_class"]["optimizer_state"], 8 * EIGHT.total // 4, "moments in shards of four")

    # Native gathers no layer twice in a row: the last one of forward is still there.
    native = user.predict(LLAMA, "parallel.strategy=native")
    equal(by_kind(native, "AllGather"), gathered - 2 * EIGHT.layer, "native gathers")

    # Without reduction until the last of four micro-batches gradients are sent once, parameters four times.
    last = user.predict(LLAMA, "train.accumulation=4", "train.sync=last")
    equal(by_kind(last, "ReduceScatter"), 4 * EIGHT.total, "reduced once")
    equal(by_kind(last, "AllGather"), 4 * gathered, "gathered four times")

    # DDP all-reduces every float32 gradient once.
    scenario = user.place.scenario("ddp", text="name: ddp\nmodel: {config: llama-3-8b, sequence_length: 512}\ncluster: {node: hgx-h100}\n"
                                               "parallel: {strategy: ddp}\ntrain: {micro_batch: 1}\n")
    ddp = user.predict(scenario)
    equal(by_kind(ddp, "AllReduce"), 4 * EIGHT.total, "DDP reduces")
    equal(sent(ddp, "AllReduce"), 2 * (RANKS - 1) * 4 * EIGHT.total, "all ranks send twice n - 1 of it")
    held = ddp["memory"]["by_class"]
    equal(held["parameter"], 4 * EIGHT.total, "DDP's parameters")
    equal(held["optimizer_state"], 8 * EIGHT.total, "DDP's moments")
    check(ddp["fits"] == "no", "16 bytes of 8e9 parameters are 128 GB")


def test_rates():
    user = User()
    run = user.predict(LLAMA)
    rate = RANKS * TOKENS / (run["step_time_ns"]["median"] / 1e9)
    close(run["tokens_per_second"], rate, "tokens a second")
    close(run["tokens_per_second_per_gpu"], rate / RANKS, "of a GPU")
    attention = EIGHT.layers * EIGHT.width * TOKENS  # L h s
    close(run["mfu_palm"], (6 * EIGHT.total + 12 * attention) * rate / RANKS / H100_BFLOAT16, "MFU as PaLM counts: 6 N + 12 L h s")
    products = EIGHT.layers * EIGHT.products + EIGHT.vocabulary * EIGHT.width
    close(run["mfu"], (6 * products + 6 * attention) * rate / RANKS / H100_BFLOAT16, "MFU of products and of half the attention")
    recomputed = user.predict(LLAMA, "activation.checkpoint=full")
    close(recomputed["mfu"] / run["mfu"], run["step_time_ns"]["median"] / recomputed["step_time_ns"]["median"], "what is recomputed counts once")


def test_that_there_are_24():
    print(f"        {COUNT} figures computed by hand")
    check(COUNT >= 24, f"{COUNT} figures")


main(globals())
