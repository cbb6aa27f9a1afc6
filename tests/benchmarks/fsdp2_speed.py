"""Tokens per second of `shardlab run`, with the plan of fsdp2 and with native's, against Python's FSDP2: 2 ranks x 1 thread, the same
model, text, batch and optimizer.

They take turns (A B C A B C ...), so a slow moment of the machine hits all; ratios are of the medians over all rounds. Python runs
eagerly with fused AdamW, what its own documentation recommends on a CPU without a compiler.
"""
import _rounds
from _peer import Folder, make_weights, needed, python_fsdp2, shardlab, training, write_scenario

ROUNDS = 5
WARMUP = 2  # write_scenario's
STEPS = 10
WAYS = ("fsdp2", "native", "pytorch")
MODEL = {"hidden_size": 512, "intermediate_size": 1376, "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 8,
         "vocab_size": 4096}


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON")
    spec = training(config=MODEL, sequence_length=256, micro_batch=4, steps=WARMUP + STEPS)
    tokens = spec["ranks"] * spec["micro_batch"] * spec["sequence_length"]
    rounds = []
    with Folder() as folder:
        spec["weights"] = make_weights(spec, folder / "weights.safetensors")
        scenario = write_scenario(spec, folder)
        for index in range(ROUNDS):
            ours = {name: shardlab("run", scenario, "--set", f"parallel.strategy={name}", "--db", folder / "runs.db")
                    for name in ("fsdp2", "native")}
            theirs, = python_fsdp2([spec], folder)
            rounds.append({f"{name}_ms": run["step_time_ns"]["median"] / 1e6 for name, run in ours.items()} |
                          {f"{name}_loss": run["losses"][-1] for name, run in ours.items()} |
                          {"pytorch_ms": _rounds.median(theirs["seconds"][WARMUP:]) * 1e3, "pytorch_loss": theirs["losses"][-1]})
            print(f"round {index}: " + ", ".join(f"{name} {rounds[-1][name + '_ms']:.1f} ms" for name in WAYS) + " a step; losses of the "
                  "last step " + ", ".join(f"{rounds[-1][name + '_loss']:.5f}" for name in WAYS), flush=True)
    medians = {name: _rounds.median([r[name + "_ms"] for r in rounds]) for name in WAYS}
    for name, milliseconds in medians.items():
        print(f"{name:<8} median step {milliseconds:.1f} ms, {tokens / milliseconds * 1e3:.0f} tokens/s")
    ratios = {"fsdp2 / PyTorch": medians["pytorch"] / medians["fsdp2"], "native / PyTorch": medians["pytorch"] / medians["native"],
              "native / fsdp2": medians["fsdp2"] / medians["native"]}
    for name, ratio in ratios.items():
        print(f"ratio of tokens per second, {name}: {ratio:.3f} (target 1.0 or more)")
    _rounds.write_result("fsdp2_speed", {"rounds": rounds, "median_ms": medians, "ratios": ratios, "target": 1.0})


main()
