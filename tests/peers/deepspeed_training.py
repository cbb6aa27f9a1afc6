"""Settings drawn at random (always the same ones, others with $SHARDLAB_SEED): the collectives of our plans are those that DeepSpeed makes
live, in the first, second and third step, and the losses of our real runs are its."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import HERE, TEXT, TINY, Folder, first_difference, make_weights, needed, shardlab

CASES_PER_WORLD = {2: 20, 4: 20}
STEPS = 3
KINDS = {"AllGather", "ReduceScatter", "AllReduce", "AllToAll", "Reduce"}
EXACT, ROUNDED = 1e-4, 2e-3  # relative, of losses: float32, bfloat16
UNEVEN = {"hidden_size": 60, "intermediate_size": 170, "vocab_size": 257, "num_attention_heads": 6, "num_key_value_heads": 3}


def draw_stage_3(pick):
    zero = {"stage3_param_persistence_threshold": pick([0, 100, 5000, 100000]), "stage3_max_reuse_distance": pick([0, 40000, 1000000000]),
            "stage3_prefetch_bucket_size": pick([0, 8000, 20000, 50000000])}
    if pick([True, False, False]):
        zero["overlap_comm"] = False
    if pick([True, False, False]):
        zero["stage3_max_live_parameters"] = pick([10000, 50000])
    return zero


def draw_zero(pick, strategy, half):
    if strategy == "zero0":
        return {}
    zero = draw_stage_3(pick) if strategy == "zero3" else {}
    size = pick([None, 5000, 20000, 60000, 1000000])
    if size:
        zero["reduce_bucket_size"] = size
    if strategy != "zero3" and pick([True, False, False]):
        zero["overlap_comm"] = True
    if pick([True, False, False, False]):
        zero["reduce_scatter"] = False
    if strategy in ("zero2", "zero3") and half and pick([True, False, False]):
        zero["grad_accum_dtype"] = "fp32"
    return zero


def draw(pick):
    """A scenario without its files, and changes of the model."""
    strategy = pick(["zero0", "zero1", "zero1", "zero2", "zero2", "zero3", "zero3", "zero3", "zero3"])
    train = {"micro_batch": pick([1, 2]), "accumulation": pick([1, 1, 2, 3]), "learning_rate": 1e-3}
    if pick([True, False]):
        train["clip_norm"] = 1.0
    scenario = {"train": train}
    half = pick([True, False])
    if half:
        scenario["precision"] = {"param": "bfloat16"}
    scenario["parallel"] = {"strategy": strategy}
    if zero := draw_zero(pick, strategy, half):
        scenario["parallel"]["zero"] = zero
    return scenario, {"num_hidden_layers": 3, "tie_word_embeddings": strategy != "zero3" and pick([False, False, True]), **pick([{}, UNEVEN])}


def make_case(pick, world, index, folder):
    scenario, changes = draw(pick)
    config = {**TINY, **changes}
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (place / "config.json").write_text(json.dumps(config))
    weights = make_weights({"config": config}, place / "model.safetensors")
    scenario.update(name=f"case-{world}-{index}", cluster={"device": "cpu", "ranks": world},
                    model={"config": str(place / "config.json"), "sequence_length": 16, "weights": str(weights)},
                    measure={"warmup_steps": 1, "steps": STEPS - 1})
    scenario["train"].update(order="sequential", data=str(TEXT), optimizer="adamw", weight_decay=0.01)
    (place / "scenario.yaml").write_text(json.dumps(scenario, indent=1))
    return {"scenario": scenario, "config": config, "text": str(TEXT), "weights": str(weights), "steps": STEPS, "file": place / "scenario.yaml"}


def by_deepspeed(cases, world, folder):
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (place / "cases.json").write_text(json.dumps(cases, default=str))
    environment = dict(os.environ, WORLD_SIZE=str(world), OMP_NUM_THREADS="1", DS_ACCELERATOR="cpu", MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    ranks = [subprocess.Popen([os.environ["SHARDLAB_TRANSFORMERS"], "-W", "ignore", str(HERE / "_deepspeed_worker.py"), str(place / "cases.json"),
                               str(place)], env=dict(environment, RANK=str(rank), LOCAL_RANK=str(rank)), stdout=subprocess.DEVNULL)
             for rank in range(world)]
    codes = [rank.wait(timeout=800) for rank in ranks]
    if any(codes):
        sys.exit(f"DeepSpeed failed: exit codes {codes}")
    return json.loads((place / "answer.json").read_text())


def planned(file, step):
    plan = shardlab("plan", file, "--step", str(step))
    return [{"kind": i["kind"], "bytes": i["bytes"], "dtype": i["dtype"], "ranks": len(i["group"])}
            for i in plan["instructions"] if i["kind"] in KINDS and len(i["group"]) > 1]


def is_zero0_in_16_bits(scenario):
    """Its FP16_UnfusedOptimizer makes a step with zero gradients when it is built, so that Adam's bias corrections begin at the second
    step: its losses are not those of AdamW after the first update."""
    return scenario["parallel"]["strategy"] == "zero0" and "precision" in scenario


def compare(case, made):
    """What differs, in words."""
    complaints = []
    for step, recorded in enumerate(made["collectives"]):
        difference = first_difference(planned(case["file"], step), [call for call in recorded if call["kind"] in KINDS])
        if difference:
            complaints.append(f"step {step}, {difference}".replace("PyTorch", "DeepSpeed"))
    ours = shardlab("run", case["file"], "--db", str(case["file"].parent / "runs.db"))["losses"]
    compared = made["losses"]
    if is_zero0_in_16_bits(case["scenario"]):
        compared = compared[:1]
    worst = max(abs(a - b) / b for a, b in zip(ours, compared))
    if len(ours) != STEPS or worst > (ROUNDED if "precision" in case["scenario"] else EXACT):
        complaints.append(f"losses {ours}, DeepSpeed's {made['losses']}")
    return complaints, worst, len(made["collectives"][1])


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON", "SHARDLAB_TRANSFORMERS")
    if subprocess.run([os.environ["SHARDLAB_TRANSFORMERS"], "-c", "import deepspeed"], env=dict(os.environ, DS_ACCELERATOR="cpu"),
                      capture_output=True).returncode:
        print("skipped: there is no DeepSpeed")
        sys.exit(77)
    failures = 0
    with Folder() as folder:
        for world, count in CASES_PER_WORLD.items():
            generator = random.Random(int(os.environ.get("SHARDLAB_SEED", 1800)) + world)
            cases = [make_case(generator.choice, world, index, folder) for index in range(count)]
            for case, made in zip(cases, by_deepspeed(cases, world, folder)):
                complaints, worst, calls = compare(case, made)
                failures += bool(complaints)
                print(f"{'FAILED' if complaints else 'good  '} {world} ranks, {calls} collectives a step, losses within {worst:.1e}: "
                      f"{json.dumps({key: case['scenario'][key] for key in ('parallel', 'precision') if key in case['scenario']})} "
                      f"accumulation {case['scenario']['train']['accumulation']}, tied {case['config']['tie_word_embeddings']}")
                for complaint in complaints:
                    print("       ", complaint)
                sys.stdout.flush()
    print(f"{sum(CASES_PER_WORLD.values())} settings, {failures} with differences")
    sys.exit(1 if failures else 0)


main()
