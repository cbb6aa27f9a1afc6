"""Settings drawn at random, trained twice: a case of them, and what differs between our plans and runs and those of another framework."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from _peer import HERE, TEXT, TINY, first_difference, make_weights, make_weights_of_transformers, shardlab

STEPS = 3
KINDS = {"AllGather", "ReduceScatter", "AllReduce", "AllToAll", "Reduce"}
UNEVEN = {"hidden_size": 60, "intermediate_size": 170, "vocab_size": 257, "num_attention_heads": 6, "num_key_value_heads": 3}


def draw_cases(draw, counts, seed, folder):
    """For each number of ranks in `counts` (-> how many) the cases; `draw` gives a scenario without its files, and changes of the model."""
    for world, count in counts.items():
        generator = random.Random(int(os.environ.get("SHARDLAB_SEED", seed)) + world)
        yield world, [make_case(*draw(generator.choice, world), f"case-{world}-{index}", world, folder) for index in range(count)]


def make_case(scenario, changes, name, world, folder):
    config = {**TINY, **changes}
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (place / "config.json").write_text(json.dumps(config))
    if config["model_type"] == "llama":
        weights = make_weights({"config": config, "lora": scenario.get("model", {}).get("lora")}, place / "model.safetensors")
    else:
        weights = make_weights_of_transformers(config, place / "model.safetensors")
    scenario.update(name=name, cluster={"device": "cpu", "ranks": world},
                    model={**scenario.get("model", {}), "config": str(place / "config.json"), "sequence_length": 16, "weights": str(weights)},
                    measure={"warmup_steps": 1, "steps": STEPS - 1})
    scenario["train"].update(order="sequential", data=str(TEXT), optimizer="adamw", weight_decay=0.01)
    (place / "scenario.yaml").write_text(json.dumps(scenario, indent=1))
    return {"scenario": scenario, "config": config, "text": str(TEXT), "weights": str(weights), "steps": STEPS, "file": place / "scenario.yaml"}


def by_ranks(framework, python, worker, cases, world, folder, **variables):
    """What rank 0 of the framework's worker answers, one process a rank."""
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    (place / "cases.json").write_text(json.dumps(cases, default=str))
    environment = dict(os.environ, WORLD_SIZE=str(world), OMP_NUM_THREADS="1", **variables)
    ranks = [subprocess.Popen([os.environ[python], "-W", "ignore", str(HERE / worker), str(place / "cases.json"), str(place)],
                              env=dict(environment, RANK=str(rank), LOCAL_RANK=str(rank)), stdout=subprocess.DEVNULL) for rank in range(world)]
    codes = [rank.wait(timeout=800) for rank in ranks]
    if any(codes):
        sys.exit(f"{framework} failed: exit codes {codes}")
    return json.loads((place / "answer.json").read_text())


def planned(file, step):
    plan = shardlab("plan", file, "--step", str(step))
    return [{"kind": i["kind"], "bytes": i["bytes"], "dtype": i["dtype"], "ranks": len(i["group"])}
            for i in plan["instructions"] if i["kind"] in KINDS and len(i["group"]) > 1]


def compare(framework, case, made, most, compared_losses=STEPS):
    """What differs, in words; the largest relative difference of a loss, of which `most` is good; collectives of the second step."""
    complaints = []
    for step, recorded in enumerate(made["collectives"]):
        if any(made.get("skipped", [])[max(step - 1, 0):step + 1]):  # it ends early, and leaves behind what the next gathers anew
            continue
        difference = first_difference(planned(case["file"], step), [call for call in recorded if call["kind"] in KINDS])
        if difference:
            complaints.append(f"step {step}, {difference}".replace("PyTorch", framework))
    ours = shardlab("run", case["file"], "--db", str(case["file"].parent / "runs.db"))["losses"]
    worst = max(abs(a - b) / b for a, b in zip(ours, made["losses"][:compared_losses]))
    if len(ours) != STEPS or worst > most:
        complaints.append(f"losses {ours}, {framework}'s {made['losses']}")
    return complaints, worst, len(made["collectives"][1])


def tell(case, world, shown, complaints, worst, calls):
    """A line, and the complaints below it."""
    settings = {key: case["scenario"][key] for key in ("parallel", "precision", "activation") if key in case["scenario"]}
    print(f"{'FAILED' if complaints else 'good  '} {world} ranks, {calls} collectives a step, losses within {worst:.1e}: {json.dumps(settings)} {shown}")
    for complaint in complaints:
        print("       ", complaint)
    sys.stdout.flush()
