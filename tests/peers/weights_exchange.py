"""Weights go both ways: what `shardlab run --save-weights` wrote is what PyTorch reads under the checkpoint's names, and the reverse.

Each side trains two steps and saves; then both sides start from either file and must find the same loss on the same batch.
"""
# processors: 1
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import Folder, make_weights, needed, python_fsdp2, shardlab, training, write_scenario

LIMIT = 1e-5  # relative, of the first loss
UNEVEN = {"hidden_size": 60, "intermediate_size": 170, "vocab_size": 257, "num_attention_heads": 6, "num_key_value_heads": 3}


def train_and_save(spec, folder):
    """The two files, and the losses of the steps that made them."""
    files = {"shardlab": folder / "by_shardlab.safetensors", "PyTorch": folder / "by_pytorch.safetensors"}
    ours = shardlab("run", write_scenario(spec, folder), "--db", folder / "runs.db", "--save-weights", files["shardlab"])
    theirs, = python_fsdp2([dict(spec, save_weights=files["PyTorch"])], folder)
    return files, {"shardlab": ours["losses"], "PyTorch": theirs["losses"]}


def first_losses(spec, folder):
    ours = shardlab("run", write_scenario(spec, folder), "--db", folder / "runs.db")
    theirs, = python_fsdp2([spec], folder)
    return ours["losses"][0], theirs["losses"][0]


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON")
    good = True
    with Folder() as folder:
        spec = training(config=UNEVEN, learning_rate=1e-2)
        spec["weights"] = make_weights(spec, folder / "start.safetensors")
        files, losses = train_and_save(spec, folder)
        for writer, file in files.items():
            ours, theirs = first_losses(dict(spec, weights=file), folder)
            difference = abs(ours / theirs - 1)
            trained = theirs < losses[writer][0] - 0.1  # or the file holds the weights of the start
            good &= difference <= LIMIT and trained
            print(f"weights saved by {writer}: first loss {ours:.6f} in shardlab, {theirs:.6f} in PyTorch, difference {difference:.1e} "
                  f"(limit {LIMIT:.0e}); before training {losses[writer][0]:.6f}")
    sys.exit(0 if good else 1)


main()
