"""Settings drawn at random (always the same ones, others with $SHARDLAB_SEED): the collectives of our plans are those that PyTorch's DDP, FSDP1 and FSDP2 make
live, in the first, second and third step, and the losses of our real runs are theirs."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _drawn import UNEVEN, by_ranks, compare, draw_cases, tell
from _peer import Folder, needed

CASES_PER_WORLD = {2: 18, 4: 18}
EXACT, ROUNDED = 1e-4, 2e-2  # relative, of losses: float32, bfloat16


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


def among_several(made):
    """PyTorch makes collectives over one rank, too, which no plan has."""
    return {**made, "collectives": [[call for call in calls if call["ranks"] > 1] for calls in made["collectives"]]}


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON")
    failures = 0
    with Folder() as folder:
        for world, cases in draw_cases(draw, CASES_PER_WORLD, 1000, folder):
            for case, made in zip(cases, by_ranks("PyTorch", "SHARDLAB_PYTHON", "_strategy_worker.py", cases, world, folder)):
                scenario = case["scenario"]
                found = compare("PyTorch", case, among_several(made), ROUNDED if "precision" in scenario else EXACT)
                failures += bool(found[0])
                tell(case, world, f"frozen {scenario['model'].get('frozen', [])} "
                     f"accumulation {scenario['train']['accumulation']} sync {scenario['train']['sync']}", *found)
    sys.exit(1 if failures else 0)


main()
