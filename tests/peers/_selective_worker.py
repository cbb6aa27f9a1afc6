"""What a model of transformers keeps between forward and backward under torch's selective checkpointing, measured: storages alive after
forward. Runs in the interpreter that has transformers: argument 1 is the file with {"config": ..., "batch": ..., "length": ...,
"policies": {name: {"kinds": [...], "every_product": n} or null for a full checkpoint}}, 2 the file for the answers in bytes.
"""
import functools
import gc
import json
import os
import pathlib
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts, noop_context_fn
from transformers import AutoConfig, AutoModelForCausalLM

aten = torch.ops.aten
PRODUCTS = {aten.mm.default, aten.addmm.default, aten.bmm.default}
ATTENTION = {aten._scaled_dot_product_flash_attention_for_cpu.default}


class Alive(TorchDispatchMode):
    """Storages that operators make, apart from those that were there."""

    def __init__(self, known):
        super().__init__()
        self.known, self.found = known, {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor) and leaf.untyped_storage()._cdata not in self.known:
                storage = leaf.untyped_storage()
                self.found[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())
        return out

    def bytes(self):
        gc.collect()
        return sum(size for reference, size in self.found.values() if not reference.expired())


def contexts(policy):
    """torchtitan's rule where only some products are kept: of every n the first."""
    if policy is None:
        return noop_context_fn()
    seen = {False: 0, True: 0}  # in forward, in recomputation

    def decide(context, func, *_args, **_kwargs):
        keep = func in ATTENTION and "attention" in policy["kinds"]
        if func in PRODUCTS and "linear" in policy["kinds"]:
            keep = seen[context.is_recompute] % policy["every_product"] == 0
            seen[context.is_recompute] += 1
        return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(decide)


def measure(spec, policy):
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**spec["config"]), dtype=torch.float32, attn_implementation="sdpa")
    model.train().gradient_checkpointing_enable({"use_reentrant": False, "context_fn": functools.partial(contexts, policy)})
    tokens = torch.randint(0, spec["config"]["vocab_size"], (spec["batch"], spec["length"]))
    known = {t.untyped_storage()._cdata for t in [*model.parameters(), *model.buffers(), tokens]}
    with Alive(known) as alive:
        loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
        kept = alive.bytes()
    loss.backward()
    return kept, float(sum(p.grad.double().norm() for p in model.parameters()))


def main():
    torch.set_num_threads(1)
    spec = json.loads(pathlib.Path(sys.argv[1]).read_text())
    answers = {name: measure(spec, policy) for name, policy in spec["policies"].items()}
    pathlib.Path(sys.argv[2]).write_text(json.dumps(answers))


main()
