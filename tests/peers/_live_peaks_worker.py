"""Peak live bytes of one training step of real FSDP2, FSDP1 and DDP (torch 2.11) on transformers' Llama, storage by storage.

A fake process group of 8 ranks, so that one process with real CPU tensors is rank 0. After every operator the bytes of all storages
alive are added up; a storage that was resized to nothing counts nothing. Not counted: parameters as the optimizer has them, and its
states. The second step is recorded. Usage: _live_peaks_worker.py CASES.json ANSWERS.json
"""
import functools
import gc
import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, MixedPrecisionPolicy, ShardingStrategy, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy, _or_policy, lambda_auto_wrap_policy
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaDecoderLayer

from _adapted_model import add_adapters, quantize, scales_of
from _live_bytes import LiveBytes

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def products_without_arithmetic():
    """Bytes do not depend on values, and a product takes no memory but its results, in the layout that torch's has. Torch multiplies
    bfloat16 element by element on processors without AVX512: products were nine tenths of the time here. Must live as long as it is
    wanted."""
    library = torch.library.Library("aten", "IMPL")
    library.impl("mm", lambda a, b: a.new_zeros(a.size(0), b.size(1)), "CPU")
    library.impl("_scaled_dot_product_flash_attention_for_cpu_backward", lambda made, *inputs, **more: tuple(
        torch.zeros_like(tensor.transpose(1, 2), memory_format=torch.contiguous_format).transpose(1, 2) for tensor in inputs[:3]), "CPU")
    return library


class Offloaded(torch.nn.Module):
    """torch's offload_wrapper with host memory that is none of torch's: on a processor its save_on_cpu would give the same tensor back."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *args, **kwargs):
        with torch.autograd.graph.saved_tensors_hooks(self.pack, self.unpack):
            return self.module(*args, **kwargs)

    @staticmethod
    def pack(tensor):
        """The checkpoint's own empty tensor goes along as it is."""
        return (tensor.dtype, tensor.detach().contiguous().view(torch.uint8).numpy().copy()) if tensor.numel() else tensor

    @staticmethod
    def unpack(packed):
        return torch.from_numpy(packed[1]).view(packed[0]).clone() if isinstance(packed, tuple) else packed


def sharded(case, model):
    layers = model.model.layers
    if case["checkpoint"]:
        for i in range(len(layers)):
            layers[i] = checkpoint_wrapper(layers[i])
            if case["offload"]:
                layers[i] = Offloaded(layers[i])
    if case["strategy"] == "ddp":
        model = DistributedDataParallel(model)
        model.register_comm_hook(None, averaged)
        return model
    param, reduce = DTYPES[case["param"]], DTYPES[case["reduce"]]
    if case["adapters"]:
        param = reduce = None
    if case["strategy"] == "fsdp1":
        return FullyShardedDataParallel(
            model, auto_wrap_policy=wrap_policy(case), device_id=torch.device("cpu"), use_orig_params=True,
            sharding_strategy=ShardingStrategy.FULL_SHARD if case["reshard"] else ShardingStrategy.SHARD_GRAD_OP,
            mixed_precision=MixedPrecision(param_dtype=param, reduce_dtype=reduce))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    policy = MixedPrecisionPolicy(param_dtype=param, reduce_dtype=reduce)
    for layer in layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy, reshard_after_forward=case["reshard"])
    return fully_shard(model, mesh=mesh, mp_policy=policy, reshard_after_forward=False)


def wrap_policy(case):
    layers = ModuleWrapPolicy({LlamaDecoderLayer})
    if not case["adapters"]:
        return layers
    adapters = functools.partial(lambda_auto_wrap_policy, lambda_fn=lambda module: (
        not list(module.children()) and getattr(module, "weight", None) is not None and module.weight.requires_grad))
    return functools.partial(_or_policy, policies=[layers, adapters])


def averaged(state, bucket):
    """The fake group's all-reduce returns nothing; this one leaves the bucket as it is."""
    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


def uncounted_storages(case, model, optimizer):
    """Empty ones are not among them: they die, and another storage takes their place in memory."""
    tensors = list(model.parameters()) + [t for state in optimizer.state.values() for t in state.values() if torch.is_tensor(t)]
    if case["strategy"] == "fsdp1":
        tensors += [module._handle.flat_param._local_shard for module in FullyShardedDataParallel.fsdp_modules(model) if module._handle]
    storages = [getattr(tensor, "_local_tensor", tensor).untyped_storage() for tensor in tensors]
    return {storage._cdata for storage in storages if storage.nbytes() > 0}


def at_rest(case, model):
    """Bytes of the parameters of a rank, those of a tied one once."""
    if case["strategy"] == "fsdp1":
        tensors = [module._handle.flat_param._local_shard for module in FullyShardedDataParallel.fsdp_modules(model) if module._handle]
    else:
        tensors = [getattr(tensor, "_local_tensor", tensor) for tensor in model.parameters()]
    return sum({tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in tensors}.values())


class OpenedLiveBytes(LiveBytes):
    """Looks into bitsandbytes' product with a weight in four bits, which makes the weight anew."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if str(function) != "bitsandbytes.gemm_4bit.default":
            return super().__torch_dispatch__(function, types, args, kwargs)
        from bitsandbytes.backends.default.ops import _gemm_4bit_default_impl
        with self:
            return _gemm_4bit_default_impl(*args, **(kwargs or {}))


def record(case):
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(
        hidden_size=case["hidden"], intermediate_size=case["ffn"], num_hidden_layers=case["layers"], num_attention_heads=case["heads"],
        num_key_value_heads=case["kv_heads"], vocab_size=case["vocabulary"], use_cache=False, tie_word_embeddings=False,
        attn_implementation="sdpa", max_position_embeddings=2048))
    if case["adapters"]:
        model = model.to(torch.bfloat16)
        quantize(model, case["quantized"])
        add_adapters(model, case["adapters"], case["quantized"])
    scales = scales_of(model)
    model = sharded(case, model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    ids = torch.randint(0, case["vocabulary"], (case["micro_batch"], case["sequence"]))

    def step(live=None):
        if live:
            live.phase = "forward"
        with torch.autocast("cpu", torch.bfloat16, enabled=case["autocast"]):
            if case["loss"] == "inside":
                loss = model(input_ids=ids, labels=ids).loss
            else:
                logits = model(input_ids=ids).logits
                loss = F.cross_entropy(logits.float().view(-1, case["vocabulary"]), ids.view(-1))
                del logits
        if live:
            live.phase = "backward"
        loss.backward()
        del loss

    step()
    optimizer.step()
    optimizer.zero_grad()
    gc.collect()
    with OpenedLiveBytes(uncounted_storages(case, model, optimizer)) as live:
        step(live)
    return {"peaks": dict(live.peaks), "at": live.at, "parameters": at_rest(case, model), "scales": scales}


def main():
    cases = json.load(open(sys.argv[1]))
    products = products_without_arithmetic()
    dist.init_process_group("fake", rank=0, world_size=8, store=FakeStore())
    json.dump([record(case) for case in cases], open(sys.argv[2], "w"))


main()
