"""Settings drawn at random (always the same ones, others with $SHARDLAB_SEED): the collectives of our plans are those that PyTorch's DDP, FSDP1 and FSDP2 make
live, in the first, second and third step, and the losses of our real runs are theirs."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import HERE, TEXT, TINY, Folder, first_difference, make_weights, needed, shardlab

CASES_PER_WORLD = {2: 18, 4: 18}
STEPS = 3
KINDS = {"AllGather", "ReduceScatter", "AllReduce", "AllToAll", "Reduce"}
EXACT, ROUNDED = 1e-4, 2e-2  # relative, of losses: float32, bfloat16
UNEVEN = {"hidden_size": 60, "intermediate_size": 170, "vocab_size": 257, "num_attention_heads": 6, "num_key_value_heads": 3}


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


def make_case(pick, world, index, folder):
    scenario, changes = draw(pick, world)
    config = {**TINY, **changes}
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (place / "config.json").write_text(json.dumps(config))
    weights = make_weights({"config": config}, place / "model.safetensors")
    scenario.update(name=f"case-{world}-{index}", cluster={"device": "cpu", "ranks": world},
                    model={**scenario.get("model", {}), "config": str(place / "config.json"), "sequence_length": 16, "weights": str(weights)},
                    measure={"warmup_steps": 1, "steps": STEPS - 1})
    scenario["train"].update(order="sequential", data=str(TEXT), optimizer="adamw", weight_decay=0.01)
    (place / "scenario.yaml").write_text(json.dumps(scenario, indent=1))
    return {"scenario": scenario, "config": config, "text": str(TEXT), "weights": str(weights), "steps": STEPS, "file": place / "scenario.yaml"}


def by_pytorch(cases, world, folder):
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (place / "cases.json").write_text(json.dumps(cases, default=str))
    ranks = [subprocess.Popen([os.environ["SHARDLAB_PYTHON"], "-W", "ignore", str(HERE / "_strategy_worker.py"), str(place / "cases.json"), str(place)],
                              env=dict(os.environ, RANK=str(rank), WORLD_SIZE=str(world), OMP_NUM_THREADS="1")) for rank in range(world)]
    codes = [rank.wait(timeout=800) for rank in ranks]
    if any(codes):
        sys.exit(f"PyTorch failed: exit codes {codes}")
    return json.loads((place / "answer.json").read_text())


def planned(file, step):
    plan = shardlab("plan", file, "--step", str(step))
    return [{"kind": i["kind"], "bytes": i["bytes"], "dtype": i["dtype"], "ranks": len(i["group"])}
            for i in plan["instructions"] if i["kind"] in KINDS and len(i["group"]) > 1]


def compare(case, made):
    """What differs, in words."""
    complaints = []
    for step, recorded in enumerate(made["collectives"]):
        recorded = [call for call in recorded if call["kind"] in KINDS and call["ranks"] > 1]
        difference = first_difference(planned(case["file"], step), recorded)
        if difference:
            complaints.append(f"step {step}, {difference}")
    ours = shardlab("run", case["file"], "--db", str(case["file"].parent / "runs.db"))["losses"]
    worst = max(abs(a - b) / b for a, b in zip(ours, made["losses"]))
    if len(ours) != STEPS or worst > (ROUNDED if "precision" in case["scenario"] else EXACT):
        complaints.append(f"losses {ours}, PyTorch's {made['losses']}")
    return complaints, worst, len(made["collectives"][1])


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON")
    failures = 0
    with Folder() as folder:
        for world, count in CASES_PER_WORLD.items():
            generator = random.Random(int(os.environ.get("SHARDLAB_SEED", 1000)) + world)
            cases = [make_case(generator.choice, world, index, folder) for index in range(count)]
            for case, made in zip(cases, by_pytorch(cases, world, folder)):
                complaints, worst, count = compare(case, made)
                failures += bool(complaints)
                print(f"{'FAILED' if complaints else 'good  '} {world} ranks, {count} collectives a step, losses within {worst:.1e}: "
                      f"{json.dumps({key: case['scenario'][key] for key in ('parallel', 'precision', 'activation') if key in case['scenario']})} "
                      f"frozen {case['scenario']['model'].get('frozen', [])} "
                      f"accumulation {case['scenario']['train']['accumulation']} sync {case['scenario']['train']['sync']}")
                for complaint in complaints:
                    print("       ", complaint)
                sys.stdout.flush()
    sys.exit(1 if failures else 0)


main()
