"""The live bytes of real DeepSpeed, storage by storage, on two and four processes: what rests after a step, and the highest of forward,
backward and update on the rank that has most, which is what one plan for all ranks stands for (under ZeRO-1 and ZeRO-2 the owner of the
last parameters has gradients of its own from the first bucket on, that of the first from the middle of backward). What rests is
equal but for single numbers and the tables of rotary positions, which are constants of the plan and made anew by transformers; each peak
is within 1 %.
"""
# processors: 2
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _drawn import by_ranks
from _drawn_zero import VARIABLES
from _peer import SKIP, Folder, needed, shardlab

LIMIT = 0.01  # of the recorded peak
NUMBERS = 512  # bytes of inverse frequencies, Adam's steps, the loss
PHASES = ("forward", "backward", "optimizer")
RELEASING = {"stage3_param_persistence_threshold": 0, "stage3_max_reuse_distance": 0, "stage3_prefetch_bucket_size": 0}
BUCKET = {"reduce_bucket_size": 200000}


WEIGHTS = {"hidden_size": 256, "intermediate_size": 688, "vocab_size": 500}  # with short sequences they are most of what lives


def case(strategy, zero=None, param="bfloat16", world=2, sequence=128, **changes):
    train = {"micro_batch": changes.pop("micro_batch", 2), "accumulation": changes.pop("accumulation", 1),
             "optimizer_implementation": "foreach"}
    model = {"hidden_size": 128, "intermediate_size": 344, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 4,
             "vocab_size": 2000, "max_position_embeddings": 512, "tie_word_embeddings": False, **changes.pop("model", {})}
    scenario = {"name": "live", "train": train, "parallel": {"strategy": strategy, **({"zero": zero} if zero else {})}, **changes}
    if param != "float32":
        scenario["precision"] = {"param": param}
    return {"scenario": scenario, "model": model, "world": world, "sequence": sequence}


RELEASED = {**BUCKET, **RELEASING}
FEW = {"model": WEIGHTS, "sequence": 16, "micro_batch": 1}


def cases_of_a_day():
    return [
        case("zero0", accumulation=2), case("zero1", {**BUCKET, "overlap_comm": True}, param="float32", accumulation=2),
        case("zero1", {"grad_accum_dtype": "fp32"}, accumulation=2, **FEW), case("zero2", dict(BUCKET), accumulation=2, **FEW),
        case("zero3", dict(BUCKET), **FEW), case("zero3", dict(RELEASED)), case("zero3", {**RELEASED, "leaf_module": {"classes": ["LlamaMLP"]}}, **FEW),
        case("zero3", {**RELEASED, "sub_group_size": 100000, "stage3_prefetch_bucket_size": 300000}, activation={"checkpoint": "full"}, **FEW),
        case("zero3", {**RELEASED, "zero_hpz_partition_size": 2}, world=4, **FEW),
    ]


def cases_of_a_night():
    return [
        case("zero0"), case("zero0", param="float32", **FEW), case("zero1", dict(BUCKET), param="float32"), case("zero1", dict(BUCKET), **FEW),
        case("zero1", {"grad_accum_dtype": "fp32"}), case("zero1", {**BUCKET, "use_multi_rank_bucket_allreduce": False}, **FEW),
        case("zero2", dict(BUCKET)), case("zero2", {**BUCKET, "overlap_comm": True}, accumulation=2),
        case("zero2", {**BUCKET, "grad_accum_dtype": "fp32", "overlap_comm": True}, **FEW), case("zero3", dict(RELEASED), param="float32"),
        case("zero3", dict(RELEASED), accumulation=2, **FEW), case("zero3", dict(RELEASED), activation={"checkpoint": "full"}),
        case("zero3", {**BUCKET, "zero_hpz_partition_size": 2}, world=4, accumulation=2),
        case("zero3", {**RELEASED, "leaf_module": {"classes": ["LlamaDecoderLayer"]}}, activation={"checkpoint": "full"}, **FEW),
        case("zero3", {**BUCKET, "stage3_prefetch_bucket_size": 100000, "leaf_module": {"names": ["model.layers.1"]}}, accumulation=2, **FEW),
        case("zero2", {**BUCKET, "grad_accum_dtype": "fp32", "use_multi_rank_bucket_allreduce": False}, accumulation=2, **FEW),
        case("zero2", {**BUCKET, "grad_accum_dtype": "fp32", "reduce_scatter": False}, accumulation=2, **FEW),
        case("zero2", {"reduce_bucket_size": 100000}, accumulation=2, **FEW), case("zero3", {**RELEASED, "reduce_bucket_size": 100000}, **FEW),
    ]


def written(values, folder, number):
    place = folder / f"case-{number}"
    place.mkdir()
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "rms_norm_eps": 1e-6, "hidden_act": "silu", **values["model"]}
    (place / "config.json").write_text(json.dumps(config))
    scenario = dict(values["scenario"], cluster={"device": "cpu", "ranks": values["world"], "threads_per_rank": 1},
                    model={"config": str(place / "config.json"), "sequence_length": values["sequence"], "implementation": "eager", "loss": {"place": "outside"}})
    (place / "scenario.json").write_text(json.dumps(scenario))
    return {"scenario": scenario, "file": place / "scenario.json"}


def predicted(file):
    memory = shardlab("simulate", file, "--no-store", "--no-calibration")["memory"]
    plan = shardlab("plan", file, "--buffers")
    rest = sum(buffer["bytes"] for buffer in plan["buffers"] if buffer["carried"] and buffer["class"] != "constant")
    return {phase: memory["phases"][phase] for phase in PHASES}, rest


def describe(values):
    scenario = values["scenario"]
    more = {key: scenario[key] for key in ("precision", "activation") if key in scenario}
    return f"{values['world']} ranks {json.dumps(scenario['parallel'])} {json.dumps(more)} accumulation {scenario['train']['accumulation']}"


def main():
    needed("SHARDLAB", "SHARDLAB_TRANSFORMERS")
    if subprocess.run([os.environ["SHARDLAB_TRANSFORMERS"], "-c", "import deepspeed"], env=dict(os.environ, DS_ACCELERATOR="cpu"),
                      capture_output=True).returncode:
        print("skipped: there is no DeepSpeed")
        sys.exit(SKIP)
    cases = cases_of_a_day() + (cases_of_a_night() if os.environ.get("SHARDLAB_NIGHTLY") else [])
    failed = 0
    with Folder() as folder:
        for world in sorted({values["world"] for values in cases}):
            of_world = [values for values in cases if values["world"] == world]
            files = [written(values, folder, f"{world}-{number}") for number, values in enumerate(of_world)]
            answers = by_ranks("DeepSpeed", "SHARDLAB_TRANSFORMERS", "_zero_memory_worker.py", files, world, folder, **VARIABLES)
            for values, its, answer in zip(of_world, files, answers):
                ours, rest = predicted(its["file"])
                errors = {phase: ours[phase] / answer["peaks"][phase] - 1 for phase in PHASES}
                worst, equal = max(abs(error) for error in errors.values()), abs(rest - answer["rest"]) <= NUMBERS
                failed += worst > LIMIT or not equal
                print(("FAILED " if worst > LIMIT or not equal else "good   ") + describe(values)
                      + f": rest {answer['rest']:,} B, {rest - answer['rest']:+,}; "
                      + ", ".join(f"{phase} {answer['peaks'][phase]:,} B {errors[phase]:+.2%}" for phase in PHASES))
                sys.stdout.flush()
    print(f"{len(cases)} cases, {failed} failed")
    sys.exit(0 if failed == 0 else 1)


main()
