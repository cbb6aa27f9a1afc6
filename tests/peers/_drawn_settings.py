"""Settings of DDP, FSDP1 and FSDP2 drawn at random: of a small Llama, on 2 or 4 ranks."""
from _drawn import UNEVEN


def draw_fsdp1(pick, world):
    shardings = ["full_shard", "full_shard", "shard_grad_op", "no_shard"] + (["hybrid_shard", "hybrid_shard_zero2"] if world == 4 else [])
    parallel = {"sharding": pick(shardings), "use_orig_params": pick([True, True, False])}
    parallel["prefetch"] = {"backward": pick(["pre", "post", "none"]), "forward": pick([False, True]), "limit_all_gathers": pick([True, False])}
    if parallel["sharding"].startswith("hybrid"):
        parallel["mesh"] = {"replicate": 2, "shard": world // 2}
    parallel["wrap"] = pick([{"policy": "transformer"}, {"policy": "transformer"}, {"policy": "none"}, {"policy": "size", "min_params": 20000}])
    return parallel


def draw_fsdp2(pick, world, train):
    parallel = {"prefetch": {"forward_depth": pick([0, 0, 1, 2]), "backward_depth": pick([0, 0, 1, 2])}}
    reshard = pick([None, True, False] + ([2] if world == 4 else []))
    if reshard is not None:
        parallel["reshard_after_forward"] = reshard
    elif world == 4 and pick([True, False]):
        parallel["mesh"] = {"replicate": 2, "shard": 2}
        if train["accumulation"] > 1 and train["sync"] == "every":
            parallel["requires_all_reduce"] = pick([True, False])
    if train["accumulation"] > 1:
        parallel["reshard_after_backward"] = pick([True, False])
    own = pick([None, None, True, False])  # of the root; a match without a path would be every unit
    overrides = [] if own is None else [{"match": {"class": "LlamaForCausalLM"}, "settings": {"reshard_after_forward": own}}]
    if pick([True, False, False]):
        parallel["wrap"] = {"policy": "transformer", "together": [["model.norm", "lm_head"]]}
        kept = pick([None, True, False])
        overrides += [] if kept is None else [{"match": {"path": "lm_head"}, "settings": {"reshard_after_forward": kept}}]
    if overrides:
        parallel["wrap"] = {"policy": "transformer", **parallel.get("wrap", {}), "overrides": overrides}
    return parallel


FROZEN = [["model.embed_tokens", "model.layers.0"], ["model.layers.1"], ["model.layers.1.mlp", "model.norm"]]


def draw_activation(pick, strategy, frozen):
    """Checkpointed layers. PyTorch gives no gradients to a reentrant region into which none flows: not with frozen parameters."""
    activation = {"checkpoint": "full", "every": pick([1, 1, 2]), "reentrant": not frozen and pick([False, False, True])}
    if strategy != "ddp":
        activation["placement"] = pick(["inside", "outside"])
    return activation


def draw(pick, world):
    """A scenario without its files, and changes of the model."""
    strategy = pick(["fsdp1", "fsdp1", "fsdp2", "fsdp2", "ddp"])
    train = {"micro_batch": pick([1, 2]), "accumulation": pick([1, 2, 3]), "learning_rate": 1e-3}
    train["sync"] = pick(["last", "every"]) if train["accumulation"] > 1 else "last"
    if pick([True, False]):
        train["clip_norm"] = 1.0
    parallel = {"fsdp1": lambda: draw_fsdp1(pick, world), "fsdp2": lambda: draw_fsdp2(pick, world, train),
                "ddp": lambda: {"ddp": {"bucket_size": pick([60000, 26214400]), "gradient_as_bucket_view": pick([False, True])}}}[strategy]()
    parallel = {"strategy": strategy, **parallel}
    scenario = {"parallel": parallel, "train": train}
    if strategy != "ddp" and pick([True, False]):
        scenario["precision"] = {"param": "bfloat16", "reduce": pick(["float32", "bfloat16"])}
    policy, whole = parallel.get("wrap", {}).get("policy", "transformer"), parallel.get("use_orig_params", True)
    if whole and pick([True, False, False]):
        scenario["model"] = {"frozen": pick(FROZEN)}
        ignored = pick([None, scenario["model"]["frozen"][:1]])
        if ignored and strategy != "ddp" and policy == "transformer" and "precision" not in scenario:  # whose inputs nobody would cast
            parallel["wrap"] = {**parallel.get("wrap", {}), "policy": "transformer", "ignored": ignored}
    if policy == "transformer" and pick([True, False]):
        scenario["activation"] = draw_activation(pick, strategy, "model" in scenario)
    parts = {"ignored", "together"} & parallel.get("wrap", {}).keys() or policy == "size"  # which would part them
    tied = pick([False, False, True]) and not parts
    return scenario, {"num_hidden_layers": 3, "tie_word_embeddings": tied, **pick([{}, UNEVEN])}
