"""What autograd keeps of each block of transformers' modules: unique storages that operators of the block save between forward and
backward, by torch's own hooks. Parameters and experts are left out, and what all blocks are handed (rotary tables, masks) is counted apart.

Attention is a function of our own that saves what a fused kernel saves: the kernel for CPUs saves something else. MPT's and Gemma 2's compute
their scores themselves; with windows, and for Falcon with alibi, it is the module for sdpa around the function, for Falcon without the one for
flash_attention_2.
"""
import unittest.mock

import torch
import torch.nn.functional as F
from transformers import AttentionInterface, AutoConfig, AutoModelForCausalLM
from transformers.masking_utils import AttentionMaskInterface
from transformers.models.falcon import modeling_falcon

NAME = "kept"  # no "flash" in it: transformers would look for that library
BATCH, LENGTH = 2, 24  # as in the worker
SHARED = "shared"  # in place of a block's path


class Attention(torch.autograd.Function):
    """Queries, keys and values as they come, a mask if there is one, the output, one float32 a head and row. Never run backward."""

    @staticmethod
    def forward(ctx, query, key, value, mask=None):
        out = torch.zeros_like(query.transpose(1, 2), memory_format=torch.contiguous_format)
        log_sum_exp = torch.zeros(query.shape[:3], dtype=torch.float32)
        ctx.save_for_backward(query, key, value, *([] if mask is None else [mask]), out, log_sum_exp)
        return out


def attention(module, query, key, value, attention_mask, **settings):
    return Attention.apply(query, key, value), None


def falcons_flash_attention(query, key, value, *args, **settings):
    return Attention.apply(*(x.transpose(1, 2) for x in (query, key, value)))


def sdpa(query, key, value, attn_mask=None, **settings):
    """Bytes become a matrix as torch makes it (attention.cpp, convert_boolean_attn_mask)."""
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.where(attn_mask.logical_not(), -torch.inf, torch.zeros((), dtype=query.dtype))
    return Attention.apply(query, key, value, attn_mask).transpose(1, 2)


AttentionInterface.register(NAME, attention)
AttentionMaskInterface.register(NAME, lambda *args, **settings: None)
modeling_falcon.FALCON_ATTENTION_CLASSES[NAME] = modeling_falcon.FalconFlashAttention2
modeling_falcon._flash_attention_forward = falcons_flash_attention


class Watch:
    """Books saved storages to the block that runs."""

    def __init__(self, model):
        self.left_out = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self.kept, self.alive, self.running = {SHARED: {}}, [], []
        self.handed = set()
        blocks = next(module for module in model.modules() if isinstance(module, torch.nn.ModuleList))
        paths = {module: path for path, module in model.named_modules()}
        for block in blocks:
            self.kept[paths[block]] = {}
            self.around(block, paths[block])
        for module in model.modules():
            if type(module).__name__.endswith("SparseMoeBlock"):
                self.around(module, None)

    def around(self, module, path):
        def before(module, args, kwargs):
            self.running.append(path)
            tensors = [kwargs.get(name) for name in ("attention_mask", "position_bias")]
            for tensor in [*tensors, *(kwargs.get("position_embeddings") or ())]:
                if tensor is not None:
                    self.handed.add(tensor.untyped_storage().data_ptr())

        module.register_forward_pre_hook(before, with_kwargs=True)
        module.register_forward_hook(lambda *args: (self.running.pop(), None)[1])

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        if self.running and self.running[-1] and storage.data_ptr() not in self.left_out:
            owner = SHARED if storage.data_ptr() in self.handed else self.running[-1]
            self.kept[owner][storage.data_ptr()] = storage.nbytes()
            self.alive.append(tensor)  # or another tensor comes to lie there
        return tensor


def kept_by_blocks(config, dtype):
    scored = config["model_type"] == "mpt" or config.get("attn_logit_softcapping")
    masked = config.get("alibi") or config.get("sliding_window")
    settings = {} if scored or masked else {"attn_implementation": NAME}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config), dtype=dtype, **settings).train()
    watch = Watch(model)
    with unittest.mock.patch.object(F, "scaled_dot_product_attention", sdpa), torch.autograd.graph.saved_tensors_hooks(watch.pack, lambda tensor: tensor):
        model(input_ids=torch.zeros(BATCH, LENGTH, dtype=torch.long), use_cache=False)
    return {path: sum(storages.values()) for path, storages in watch.kept.items()}


def write_kept(config, file):
    """Lines "dtype block bytes"."""
    with open(file, "w") as out:
        for dtype in (torch.float32, torch.bfloat16):
            for path, size in kept_by_blocks(config, dtype).items():
                out.write(f"{str(dtype).removeprefix('torch.')} {path} {size}\n")
