"""The same weights and batches trained by `shardlab run` and by Python's fully_shard: losses, gradient norms and final weights."""
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import Folder, make_weights, needed, python_fsdp2_cases, shardlab, training, write_scenario

# Relative differences: losses, gradient norms. bfloat16 rounds every product, so only the course of the loss is compared.
EXACT = (1e-4, 1e-3)
ROUNDED = (2e-2, 1e-1)
UNEVEN = {"hidden_size": 60, "intermediate_size": 170, "vocab_size": 257, "num_attention_heads": 6, "num_key_value_heads": 3}

# Mixed precision unit by unit.
WIDE_NORMS = {"LlamaDecoderLayer": {}, "LlamaRMSNorm": {"param": "float32", "output": "bfloat16"}}
WIDE_MLPS = {"LlamaDecoderLayer": {"output": "bfloat16"}, "LlamaMLP": {"param": "float32"}}
WIDE_LAYERS = {"LlamaDecoderLayer": {"param": "float32", "output": "bfloat16"}, "LlamaForCausalLM": {"output": "float32"}}


def sgd(implementation):
    return training(steps=10, learning_rate=0.1, optimizer={"optimizer": "sgd", "momentum": 0.9, "weight_decay": 0.1,
                                                            "optimizer_implementation": implementation})


CASES = {
    "reshard default": (training(steps=10), EXACT),
    "reshard false": (training(steps=10, reshard="false"), EXACT),
    "accumulation 2, sync last": (training(steps=10, accumulation=2), EXACT),
    "accumulation 2, sync every": (training(steps=10, accumulation=2, sync="every"), EXACT),
    "state in host memory": (training(steps=10, offload=True), EXACT),
    "state in host memory, accumulation 2, sync every": (training(steps=10, offload=True, accumulation=2, sync="every"), EXACT),
    "state in host memory, bfloat16": (training(steps=10, offload=True, param="bfloat16", accumulation=2), ROUNDED),
    "tied embeddings": (training(steps=10, config={"tie_word_embeddings": True}), EXACT),
    "uneven rows, 4 ranks": (training(steps=10, config=UNEVEN, ranks=4, micro_batch=1), EXACT),
    "Adam": (training(steps=10, optimizer={"optimizer": "adam", "weight_decay": 0.1}), EXACT),
    "Adam, foreach": (training(steps=10, optimizer={"optimizer": "adam", "optimizer_implementation": "foreach"}), EXACT),
    "AdamW, loop": (training(steps=10, optimizer={"optimizer": "adamw", "optimizer_implementation": "loop"}), EXACT),
    # Python's fused SGD does not take the tensors of fully_shard.
    "SGD with momentum, foreach": (sgd("foreach"), EXACT),
    "SGD with momentum, loop": (sgd("loop"), EXACT),
    "bfloat16 parameters": (training(steps=10, param="bfloat16"), ROUNDED),
    "norms in float32": (training(steps=10, param="bfloat16", units=WIDE_NORMS), ROUNDED),
    "MLPs in float32": (training(steps=10, param="bfloat16", units=WIDE_MLPS), ROUNDED),
    "layers in float32, logits cast to float32": (training(steps=10, param="bfloat16", units=WIDE_LAYERS), ROUNDED),
    "float16 parameters": (training(steps=10, param="float16", scaler={"initial_scale": 1024.0}), ROUNDED),
    "float16, first steps overflow": (training(steps=14, param="float16", scaler={"initial_scale": 2.0 ** 24, "interval": 3}), ROUNDED),
}


def difference(ours, theirs):
    """Relative. A norm that is not finite (null in ours) must be none in both: these steps were skipped."""
    if ours is None or not math.isfinite(theirs):
        return 0 if ours is None and not math.isfinite(theirs) else float("inf")
    return abs(ours - theirs) / abs(theirs)


def worst(ours, theirs):
    """Largest relative difference; infinite when the lengths differ."""
    if len(ours) != len(theirs) or not theirs:
        return float("inf")
    return max(difference(a, b) for a, b in zip(ours, theirs))


def compare(name, ours, theirs, tolerances):
    """Prints the differences; whether they are within the tolerances."""
    loss = worst(ours["losses"], theirs["losses"])
    norm = worst(ours["gradient_norms"], theirs["gradient_norms"])
    falls = theirs["losses"][-1] < theirs["losses"][0]  # a training that stands still would agree with anything
    good = loss <= tolerances[0] and norm <= tolerances[1] and falls
    print(f"{name}: {len(theirs['losses'])} losses {theirs['losses'][0]:.4f} to {theirs['losses'][-1]:.4f}, "
          f"largest difference {loss:.1e} (limit {tolerances[0]:.0e}), of gradient norms {norm:.1e} (limit {tolerances[1]:.0e})"
          f"{'' if good else ': FAILED'}", flush=True)
    if not good:
        print("  ours  ", ours["losses"], ours["gradient_norms"])
        print("  theirs", theirs["losses"], theirs["gradient_norms"])
    return good


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON")
    with Folder() as folder:
        for index, (spec, _) in enumerate(CASES.values()):
            spec["weights"] = make_weights(spec, folder / f"weights{index}.safetensors")
        theirs = python_fsdp2_cases({name: spec for name, (spec, _) in CASES.items()}, folder)
        good = True
        for name, (spec, tolerances) in CASES.items():
            ours = shardlab("run", write_scenario(spec, folder), "--db", folder / "runs.db")
            good &= compare(name, ours, theirs[name], tolerances)
    sys.exit(0 if good else 1)


main()
