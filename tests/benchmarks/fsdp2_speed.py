"""Tokens per second of `shardlab run` against Python's FSDP2: 2 ranks x 1 thread, the same model, text, batch and optimizer.

The two take turns (A B A B ...), so a slow moment of the machine hits both; the ratio is of the medians over all rounds. Python runs
eagerly with fused AdamW, what its own documentation recommends on a CPU without a compiler.
"""
import _rounds
from _peer import Folder, make_weights, needed, python_fsdp2, shardlab, training, write_scenario

ROUNDS = 5
WARMUP = 2  # write_scenario's
STEPS = 10
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
            ours = shardlab("run", scenario, "--db", folder / "runs.db")
            theirs, = python_fsdp2([spec], folder)
            seconds = _rounds.median(theirs["seconds"][WARMUP:])
            rounds.append({"shardlab_ms": ours["step_time_ns"]["median"] / 1e6, "pytorch_ms": seconds * 1e3,
                           "shardlab_loss": ours["losses"][-1], "pytorch_loss": theirs["losses"][-1]})
            print(f"round {index}: shardlab {rounds[-1]['shardlab_ms']:.1f} ms, PyTorch {rounds[-1]['pytorch_ms']:.1f} ms a step; "
                  f"losses of the last step {rounds[-1]['shardlab_loss']:.5f} and {rounds[-1]['pytorch_loss']:.5f}", flush=True)
    ours = _rounds.median([r["shardlab_ms"] for r in rounds])
    theirs = _rounds.median([r["pytorch_ms"] for r in rounds])
    rate = lambda milliseconds: tokens / milliseconds * 1e3
    print(f"median step: shardlab {ours:.1f} ms, {rate(ours):.0f} tokens/s; PyTorch FSDP2 {theirs:.1f} ms, {rate(theirs):.0f} tokens/s")
    print(f"ratio of tokens per second, shardlab / PyTorch: {theirs / ours:.3f} (target 1.0 or more)")
    _rounds.write_result("fsdp2_speed", {"rounds": rounds, "shardlab_tokens_per_second": rate(ours),
                                         "pytorch_tokens_per_second": rate(theirs), "ratio": theirs / ours, "target": 1.0})


main()
