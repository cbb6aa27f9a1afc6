"""Settings drawn at random (always the same ones, others with $SHARDLAB_SEED): an optimizer in files, by DeepSpeed live. Our plans read,
write and wait in its order, through as many staging buffers (tests/swap)."""
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _drawn import by_ranks
from _drawn_zero import VARIABLES
from _peer import SKIP, Folder, drawn, needed

HIDDEN = [(256, 4), (192, 4), (248, 4), (320, 5), (250, 5)]  # with heads; partitions of some are no multiples of what a drive takes


def draw_model(pick):
    hidden, heads = pick(HIDDEN)
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden, "head_dim": hidden // heads,
            "intermediate_size": pick([1024, 2049, 2200, 3000]), "num_hidden_layers": pick([1, 2, 3]), "num_attention_heads": heads,
            "num_key_value_heads": pick([heads, 1]), "vocab_size": pick([2100, 4096, 5003]), "max_position_embeddings": 64,
            "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": pick([False, False, False, True])}


def draw_zero(pick):
    overlaps = {"pipeline_read": pick([True, False]), "pipeline_write": pick([True, False])}
    buffers = pick([12, 13, 16] if any(overlaps.values()) else [4, 5, 7])
    zero = {"stage": 3, "sub_group_size": pick([200000, 400000, 700000, 1200000, 10**9]),
            "reduce_bucket_size": pick([300000, 900000, 2000000, 5000000]),
            "offload_optimizer": {"device": "nvme", "buffer_count": buffers, **overlaps}}
    if pick([True, False, False]):
        zero["reduce_scatter"] = False
    if pick([True, False, False]):
        zero["offload_param"] = {"device": "cpu"}
    if pick([True, False]):
        zero["stage3_param_persistence_threshold"] = pick([0, 100, 10000])
    if pick([True, False]):
        zero["stage3_max_reuse_distance"] = 0
    if pick([True, False, False]):
        zero["overlap_comm"] = False
    return zero


def draw(pick):
    half = pick([True, True, False])
    settings = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": pick([1, 1, 2]), "gradient_clipping": 1.0,
                "zero_optimization": draw_zero(pick)}
    if half:
        settings["bf16"] = {"enabled": True}
    if half and pick([True, False, False]):
        settings["data_types"] = {"grad_accum_dtype": "fp32"}
    aio = pick([{}, {}, {"block_size": 2097152}, {"intra_op_parallelism": 2}, {"intra_op_parallelism": 3}])
    return {"config": draw_model(pick), "deepspeed": {**settings, **({"aio": aio} if aio else {})}, "sequence_length": 16}


def main():
    needed("SHARDLAB", "SHARDLAB_SOURCE", "SHARDLAB_TRANSFORMERS")
    if subprocess.run([os.environ["SHARDLAB_TRANSFORMERS"], "-c", "import deepspeed"], env=dict(os.environ, DS_ACCELERATOR="cpu"),
                      capture_output=True).returncode:
        print("skipped: there is no DeepSpeed")
        sys.exit(SKIP)
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "swap"))
    from _comparison import differences
    generator = random.Random(int(os.environ.get("SHARDLAB_SEED", 2700)))
    cases = [draw(generator.choice) for _ in range(drawn(8, 60))]
    with Folder() as folder:
        recordings = by_ranks("DeepSpeed", "SHARDLAB_TRANSFORMERS", "_swap_worker.py", cases, 2, folder, **VARIABLES)
    equal = 0
    for number, recording in enumerate(recordings):
        found = [recording["error"]] if "error" in recording else differences(f"setting {number}", recording)
        if not recording.get("settled", True):
            found.append("the second and the third step of DeepSpeed differ")
        equal += not found
        swapped = sum(each is not None for each in recording.get("kept", []))
        print(f"{'FAILED' if found else 'good  '} {swapped} of {len(recording.get('groups', []))} sub-groups in files, "
              f"{len(recording.get('steady', []))} events a step: {cases[number]['deepspeed']}")
        for each in found:
            print("       ", each)
    print(f"{equal} of {len(cases)} settings equal")
    sys.exit(0 if equal == len(cases) else 1)


main()
