"""Files drawn at random, many with a mistake: what `import` accepts, the tools' own loaders accept, and what is in effect there is what import
read. What import refuses a loader may well accept: it is silent about much."""
# processors: 1
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import Folder, HERE, drawn, needed

CASES = drawn(150, 300)
BASE = {"name": "base", "model": {"config": "llama-3-8b", "sequence_length": 128}, "cluster": {"node": "hgx-h100", "gpus_per_node": 1},
        "train": {"micro_batch": 1}}
BOOLEANS = [True, False, True, False, True, False, "true", 1]
COUNTS = [1, 2, 1000000, 5e8, 100000, 0, -1, "5", 2.5, 1e8]

ZERO = {"stage": [0, 1, 2, 3, 3, 2, 1, 4, "2"], "overlap_comm": BOOLEANS, "contiguous_gradients": BOOLEANS, "reduce_bucket_size": COUNTS, "sub_group_size": COUNTS,
        "stage3_prefetch_bucket_size": COUNTS, "param_persistence_threshold": COUNTS, "max_live_parameters": COUNTS, "reduce_scatter": BOOLEANS,
        "round_robin_gradients": BOOLEANS, "stage3_max_reuse_distance": COUNTS, "gather_16bit_weights_on_model_save": BOOLEANS, "overlap_com": BOOLEANS,
        "offload_optimizer": [{"device": "cpu"}, {"device": "none"}, {"device": "gpu"}, {"device": "cpu", "pin_memory": True}],
        "offload_param": [{"device": "cpu"}, {"device": "cpu", "buffer_count": 3}, {"devise": "cpu"}]}
ROOT = {"gradient_clipping": [0.5, 1.0, 0.0, 2, -1, "1"], "gradient_accumulation_steps": [1, 2, 4, 0, "2"], "bf16": [{"enabled": True}, {"enabled": False}, {"enabled": "yes"}],
        "fp16": [{"enabled": True}, {"enabled": False}, {"enabled": True, "loss_scale_window": 0}, {"enabled": True, "initial_scale_power": 12}],
        "steps_per_print": [10, 100], "communication_data_type": ["fp16", "bf16", "fp32", "fp64"], "prescale_gradients": BOOLEANS, "wall_clock_breakdown": [True, False],
        "data_types": [{"grad_accum_dtype": "fp32"}], "comms_logger": [{"enabled": True}, {"enable": True}], "timeout": [30], "train_batch_size": [2, 4, 8],
        "activation_checkpointing": [{"cpu_checkpointing": True}], "gradient_allreduce_op": ["mean", "sum", "max"]}

FSDP = {"fsdp_version": [1, 2, 2, 3], "fsdp_sharding_strategy": ["FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD", 1, 2, 5, 6, "FULL"],
        "fsdp_reshard_after_forward": [True, False, "FULL_SHARD", "SHARD_GRAD_OP"], "fsdp_auto_wrap_policy": ["TRANSFORMER_BASED_WRAP", "SIZE_BASED_WRAP", "NO_WRAP", "WRAP"],
        "fsdp_transformer_layer_cls_to_wrap": ["LlamaDecoderLayer", "LlamaDecoderLayer,LlamaMLP"], "fsdp_min_num_params": [1000000, 100000000, 0, "1e8"],
        "fsdp_backward_prefetch": ["BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH", "PRE"], "fsdp_forward_prefetch": BOOLEANS, "fsdp_offload_params": BOOLEANS,
        "fsdp_state_dict_type": ["FULL_STATE_DICT", "SHARDED_STATE_DICT", "LOCAL_STATE_DICT", "FULL"], "fsdp_use_orig_params": BOOLEANS,
        "fsdp_cpu_ram_efficient_loading": BOOLEANS, "fsdp_sync_module_states": BOOLEANS, "fsdp_activation_checkpointing": BOOLEANS,
        "activation_checkpointing_offload": [True, False], "offload_param": [True]}
MACHINE = {"mixed_precision": ["bf16", "fp16", "no", "bf17"], "machine_rank": [0], "same_network": [True], "debug": [False], "num_machine": [1], "main_process_port": [0]}

TRAINER_FSDP = {"version": [1, 2, 2], "reshard_after_forward": [True, False, "full_shard"], "cpu_offload": BOOLEANS, "auto_wrap_policy": FSDP["fsdp_auto_wrap_policy"],
                "transformer_layer_cls_to_wrap": ["LlamaDecoderLayer", ["LlamaDecoderLayer"]], "min_num_params": [0, 1000000], "cpu_ram_efficient_loading": BOOLEANS,
                "state_dict_type": FSDP["fsdp_state_dict_type"], "activation_checkpointing": BOOLEANS, "forward_prefetch": BOOLEANS,
                "backward_prefetch": ["backward_pre", "backward_post", "pre"], "use_orig_params": BOOLEANS}
TRAINER = {"per_device_train_batch_size": [1, 2, 8, 0, "2"], "gradient_accumulation_steps": [1, 4, 0, "4"], "max_grad_norm": [1.0, 0.5, 0.0], "learning_rate": [1e-4, 5e-5],
           "lr_scheduler_type": ["linear", "cosine", "constant", "cosin"], "warmup_steps": [0, 10, 0.1], "optim": ["adamw_torch", "sgd", "adafactor", "adam"],
           "seed": [1, 42], "fp16": [False], "per_device_batch_size": [1]}


def some(choice, number, table, least, most):
    keys = list(table)
    picked = {choice(keys) for _ in range(number(least, most))}
    return {key: choice(table[key]) for key in keys if key in picked}


def draw_deepspeed(choice, number):
    return {"train_micro_batch_size_per_gpu": choice([1, 2, 4])} | some(choice, number, ROOT, 0, 4) | {"zero_optimization": {"stage": choice([0, 1, 2, 3])} | some(choice, number, ZERO, 0, 4)}


def draw_accelerate(choice, number):
    return {"distributed_type": "FSDP", "num_processes": 1} | some(choice, number, MACHINE, 0, 3) | {"fsdp_config": some(choice, number, FSDP, 1, 7)}


def draw_trainer(choice, number):
    return {"output_dir": "out", "bf16": choice([True, False])} | some(choice, number, TRAINER, 0, 4) | {"fsdp": True, "fsdp_config": some(choice, number, TRAINER_FSDP, 0, 6)}


KINDS = {"deepspeed.json": draw_deepspeed, "accelerate.yaml": draw_accelerate, "training_args.json": draw_trainer}


def imported(file, base):
    done = subprocess.run([os.environ["SHARDLAB"], "import", str(file), "--onto", str(base), "--json"], capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 2):
        sys.exit(f"import ended with {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)["settings"] if done.returncode == 0 else None


def unequal(expected, found):
    return [f"{key}: import read {value!r}, the loader has {found.get(key)!r}" for key, value in expected.items() if found.get(key) != value]


def dtype_of(settings):
    return f"torch.{settings['precision.param']}" if "precision.param" in settings else None


def expected_plugin(settings):
    v2 = settings["parallel.strategy"] == "fsdp2"
    reshard = str(settings.get("parallel.reshard_after_forward", True)) not in ("False", "false")
    common = {"version": 2 if v2 else 1, "offload": settings.get("offload.parameters", "none") == "cpu", "param": dtype_of(settings),
              "checkpointing": settings.get("activation.checkpoint", "none") != "none", "state_dict": settings["checkpoint.type"].upper() + "_STATE_DICT"}
    if v2:
        return common | {"reshard": reshard}
    sharding = settings.get("parallel.sharding", "full_shard").upper().replace("HYBRID_SHARD_ZERO2", "_HYBRID_SHARD_ZERO2")
    prefetch = {"pre": "BACKWARD_PRE", "post": "BACKWARD_POST", "none": None}[settings["parallel.prefetch.backward"]]
    return common | {"sharding": sharding, "prefetch": prefetch, "forward_prefetch": settings.get("parallel.prefetch.forward", False),
                     "use_orig_params": settings.get("parallel.use_orig_params", True)}


def check_accelerate(settings, found):
    return unequal(expected_plugin(settings), found["plugin"])


def check_trainer(settings, found):
    return unequal(expected_plugin(settings), found["plugin"])


def check_deepspeed(settings, found):
    expected = {"stage": int(settings["parallel.strategy"][-1]), "micro_batch": settings["train.micro_batch"], "accumulation": settings["train.accumulation"],
                "clip": settings.get("train.clip_norm", 0), "bf16": settings.get("precision.param") == "bfloat16", "fp16": settings.get("precision.param") == "float16"}
    complaints = unequal(expected, found)
    for key, value in settings.get("parallel.zero", {}).items():
        held = found["stage3"].get(key, found["zero"].get(key, found["zero"].get(key.removeprefix("stage3_"))))
        if key == "sub_group_size" and held == 0:  # every parameter is a group, as with 1, which the import says
            held = 1
        if key not in ("grad_accum_dtype", "communication_data_type") and held != value:
            complaints.append(f"{key}: import read {value!r}, the loader has {held!r}")
    return complaints


CHECKS = {"deepspeed.json": check_deepspeed, "accelerate.yaml": check_accelerate, "training_args.json": check_trainer}


def main():
    needed("SHARDLAB_TRANSFORMERS")
    generator = random.Random(int(os.environ.get("SHARDLAB_SEED", 47)))
    cases = []
    with Folder() as folder:
        base = folder / "base.yaml"
        base.write_text(json.dumps(BASE))
        for kind, draw in KINDS.items():
            for number in range(CASES):
                file = folder / f"{number}.{kind}"
                drawn = draw(generator.choice, generator.randint)
                file.write_text(json.dumps(drawn, indent=1))
                cases.append({"kind": kind, "file": str(file), "drawn": drawn, "settings": imported(file, base)})
        done = subprocess.run([os.environ["SHARDLAB_TRANSFORMERS"], "-W", "ignore", str(HERE / "_export_loaders_worker.py")],
                              input=json.dumps([{"kind": case["kind"], "file": case["file"]} for case in cases]),
                              capture_output=True, text=True, timeout=1000, env=dict(os.environ, DS_ACCELERATOR="cpu", HF_HUB_OFFLINE="1"))
    if done.returncode != 0:
        sys.exit(f"the loaders failed:\n{done.stderr[-4000:]}")
    bad, counts = 0, {kind: {"accepted": 0, "refused": 0, "refused by import alone": 0} for kind in KINDS}
    for case, found in zip(cases, json.loads(done.stdout)):
        count = counts[case["kind"]]
        if case["settings"] is None:
            count["refused" if "error" in found else "refused by import alone"] += 1
            continue
        count["accepted"] += 1
        complaints = [found["error"]] if "error" in found else CHECKS[case["kind"]](case["settings"], found)
        if complaints:
            bad += 1
            print(f"FAILED {case['kind']}: {json.dumps(case['drawn'])}")
            for complaint in complaints:
                print("       ", complaint[:300])
    print(f"{len(cases)} files {counts}: {bad} with complaints")
    sys.exit(1 if bad else 0)


main()
