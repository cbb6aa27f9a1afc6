"""Settings drawn at random for exports and imports: FSDP1, FSDP2, DDP and ZeRO with what files of other tools can say and what they cannot."""

LAYER = {"llama-3.2-1b": "LlamaDecoderLayer", "gpt2": "GPT2Block", "qwen3-0.6b": "Qwen3DecoderLayer"}


def draw(choice):
    """A scenario as a dictionary of dotted keys; not all of them are valid."""
    strategy = choice(["ddp", "fsdp1", "fsdp1", "fsdp2", "fsdp2", "fsdp2", "zero1", "zero2", "zero3", "zero3"])
    s = {"name": f"drawn {strategy}", "model.config": choice(list(LAYER)), "model.sequence_length": 128, "cluster.node": "hgx-h100",
         "cluster.nodes": choice([1, 2, 4]), "parallel.strategy": strategy, "train.micro_batch": choice([1, 2, 8]),
         "train.accumulation": choice([1, 1, 4])}
    if choice([True, False]):
        s["train.clip_norm"] = choice([0.5, 1.0])
    checkpoint = choice(["none", "none", "full"])
    if checkpoint != "none":
        s["activation.checkpoint"] = checkpoint
        s |= draw_checkpoints(choice, strategy)
    if strategy.startswith("zero"):
        return draw_zero(choice, s, int(strategy[-1]))
    if strategy != "ddp":
        draw_fsdp(choice, s)
    else:
        s["parallel.ddp.bucket_size"] = choice(["25MiB", "100MiB"])
    return s


def draw_checkpoints(choice, strategy):
    """Which layers, in which way, and where their inputs wait."""
    drawn = {"activation.every": 2} if choice([True, False, False]) else {}
    if choice([True, False, False]):
        drawn["activation.reentrant"] = True
    if strategy in ("ddp", "fsdp2") and choice([True, False, False]):
        drawn["activation.offload"] = "cpu"
    return drawn


def draw_fsdp(choice, s):
    precision = choice([None, "bfloat16", "bfloat16"])
    if precision:
        s["precision.param"] = precision
        s["precision.reduce"] = choice(["bfloat16", "float32"])
    policy = choice(["transformer", "size", "none", "module"])
    s["parallel.wrap.policy"] = policy
    if policy == "size":
        s["parallel.wrap.min_params"] = choice([1_000_000, 20_000_000])
    if policy == "module":
        s["parallel.wrap.classes"] = [LAYER[s["model.config"]]]
    if choice([True, False, False]):
        s["offload.parameters"] = "cpu"
    if s["parallel.strategy"] == "fsdp1":
        s["parallel.sharding"] = choice(["full_shard", "shard_grad_op", "no_shard", "hybrid_shard", "hybrid_shard_zero2"])
        s["parallel.prefetch.backward"] = choice(["pre", "post", "none"])
        s["parallel.prefetch.forward"] = choice([True, False])
        s["parallel.use_orig_params"] = choice([True, False])
        if choice([True, False, False, False]):
            s["parallel.prefetch.limit_all_gathers"] = False
        if "hybrid" in s["parallel.sharding"]:
            s["parallel.mesh.replicate"] = s["cluster.nodes"]
    else:
        s["parallel.reshard_after_forward"] = choice(["default", True, False, 4])
        s["parallel.mesh.replicate"] = choice([1, s["cluster.nodes"]])
        s["parallel.prefetch.forward_depth"] = choice([0, 0, 2])
    s["checkpoint.type"] = choice(["full", "sharded"])


def draw_zero(choice, s, stage):
    if choice([True, True, False]):
        s["precision.param"] = "bfloat16"
    zero = {"reduce_bucket_size": choice([500_000_000, 16_777_216]), "overlap_comm": choice([True, False])}
    if stage == 3:
        zero |= {"stage3_param_persistence_threshold": choice([100_000, 10_000]), "stage3_prefetch_bucket_size": choice([50_000_000, 1_000_000]),
                 "stage3_max_live_parameters": choice([1_000_000_000, 3_000_000])}
        if choice([True, False, False]):
            s["offload.parameters"] = "cpu"
    if choice([True, False, False]):
        s["offload.optimizer"] = "cpu"
    s["parallel.zero"] = zero
    return s


def nested(settings):
    tree = {}
    for key, value in settings.items():
        node = tree
        *path, last = key.split(".") if key != "name" else [key]
        for part in path:
            node = node.setdefault(part, {})
        node[last] = value
    return tree


def in_effect(settings, export):
    """The scenario with what the export says runs instead."""
    return settings | {d["key"]: d["file"] for d in export["differences"] if d["kind"] != "elsewhere"}
