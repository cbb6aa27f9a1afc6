"""Selective activation checkpointing against torch's own on a model of transformers: what both keep between forward and backward beyond
a full checkpoint, to the byte. The interpreter with transformers is $SHARDLAB_TRANSFORMERS (scripts/peers_env.sh).
"""
# processors: 1
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _peer import HERE, Folder, needed

CONFIG = {"model_type": "llama", "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 3, "num_attention_heads": 4,
          "num_key_value_heads": 4, "vocab_size": 130, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "tie_word_embeddings": False}
BATCH, LENGTH = 2, 24
POLICIES = {
    "linear, attention": {"kinds": ["linear", "attention"], "every_product": 1},
    "linear/2, attention": {"kinds": ["linear", "attention"], "every_product": 2},
    "attention": {"kinds": ["attention"], "every_product": 1},
    "linear": {"kinds": ["linear"], "every_product": 1},
}
BYTES = {"float32": 4, "int64": 8}


def planned(folder, kinds):
    """Bytes of the tensors that the plan of one process retains."""
    config = folder / "config.json"
    config.write_text(json.dumps(CONFIG))
    scenario = folder / "scenario.yaml"
    scenario.write_text(json.dumps({
        "name": "selective", "model": {"config": str(config), "sequence_length": LENGTH}, "cluster": {"device": "cpu", "ranks": 1},
        "parallel": {"strategy": "none"}, "train": {"micro_batch": BATCH}}))
    selective = "activation={checkpoint: selective, operators: [%s]}" % kinds
    done = subprocess.run([os.environ["SHARDLAB"], "plan", str(scenario), "--buffers", "--set", selective], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    buffers = re.findall(r"^ *buffer +act\.s\d+\.retained\d+\.mb0 +\S+ +(\S+) +x +(\d+)", done.stdout, re.MULTILINE)
    return sum(BYTES[dtype] * int(elements) for dtype, elements in buffers)


def main():
    needed("SHARDLAB", "SHARDLAB_TRANSFORMERS")
    good = True
    with Folder() as folder:
        spec = {"config": CONFIG, "batch": BATCH, "length": LENGTH, "policies": {"full": None, **POLICIES}}
        (folder / "spec.json").write_text(json.dumps(spec))
        subprocess.run([os.environ["SHARDLAB_TRANSFORMERS"], str(HERE / "_selective_worker.py"), str(folder / "spec.json"),
                        str(folder / "answer.json")], check=True, timeout=300)
        answer = json.loads((folder / "answer.json").read_text())
        full, gradient = answer["full"]
        for kinds in POLICIES:
            kept, ours = answer[kinds][0] - full, planned(folder, kinds)
            same = kept == ours and answer[kinds][1] == gradient
            print(f"{kinds}: PyTorch keeps {kept} B beyond a full checkpoint, planned {ours} B{'' if same else ': FAILED'}")
            good &= same
    sys.exit(0 if good else 1)


main()
