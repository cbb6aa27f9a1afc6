"""What torch's caching allocator hands out and reserves while real FSDP2, FSDP1 or DDP trains a model of transformers on a GPU that computes
nothing (hollow_gpu/): peaks of three steps and of the setup before them, by torch's own names.

A case that runs out of memory says so. Usage: _reserved_worker.py CASES.json ANSWERS.json
"""
import contextlib
import os

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import torch.distributed as dist
import torch.nn.functional as F
import transformers.masking_utils
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, MixedPrecisionPolicy, ShardingStrategy, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore
from transformers import AutoConfig, AutoModelForCausalLM

from hollow_gpu._peaks import answer_all, peaks

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
STEPS = 3


def blocks_of(model):
    return next(module for module in model.modules() if isinstance(module, torch.nn.ModuleList))


def built(case):
    """As one trains a large model: made without memory, which the units take one after another."""
    config = AutoConfig.for_model(**{**case["config"], "use_cache": False})
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, attn_implementation=case.get("attention", "sdpa"), dtype=torch.float32)
    layers = blocks_of(model)
    case["block"] = type(layers[0])
    if case["checkpoint"]:
        for i in range(len(layers)):
            layers[i] = checkpoint_wrapper(layers[i])
    return {"ddp": with_ddp, "fsdp1": with_fsdp1, "fsdp2": with_fsdp2}[case["strategy"]](case, model)


def with_ddp(case, model):
    model = DistributedDataParallel(model.to_empty(device="cuda"))
    model.register_comm_hook(None, averaged)
    return model


def averaged(state, bucket):
    """The fake group's all-reduce returns nothing; this one leaves the bucket as it is."""
    future = torch.futures.Future(devices=[torch.device("cuda", 0)])
    future.set_result(bucket.buffer())
    return future


def with_fsdp1(case, model):
    return FullyShardedDataParallel(
        model, auto_wrap_policy=ModuleWrapPolicy({case["block"]}), device_id=0, use_orig_params=True,
        sharding_strategy=ShardingStrategy.FULL_SHARD if case["reshard"] else ShardingStrategy.SHARD_GRAD_OP,
        mixed_precision=MixedPrecision(param_dtype=DTYPES[case["param"]], reduce_dtype=DTYPES[case["reduce"]]) if mixed(case) else None,
        limit_all_gathers=case["limiter"], param_init_fn=lambda module: module.to_empty(device="cuda", recurse=False))


def with_fsdp2(case, model):
    policy = MixedPrecisionPolicy()
    if mixed(case):
        policy = MixedPrecisionPolicy(param_dtype=DTYPES[case["param"]], reduce_dtype=DTYPES[case["reduce"]])
    for layer in blocks_of(model):
        fully_shard(layer, mp_policy=policy, reshard_after_forward=case["reshard"])
    fully_shard(model, mp_policy=policy, reshard_after_forward=False)
    return model.to_empty(device="cuda")


def mixed(case):
    return case["param"] != "float32" or case["reduce"] != "float32"


def synchronised(case, model, last):
    """The context of a forward and its backward: gradients are reduced after the last micro-batch."""
    if case["strategy"] == "fsdp2":
        model.set_requires_gradient_sync(last)
        last = True
    return contextlib.nullcontext() if last else model.no_sync()


def forward(case, model, ids):
    if case["loss"] == "inside":
        return model(input_ids=ids, labels=ids).loss
    logits = model(input_ids=ids).logits
    loss = F.cross_entropy(logits.float().view(-1, logits.size(-1)), ids.view(-1))
    del logits
    return loss


def train(case):
    # Two that look at values of kernels, which here are zeros.
    transformers.masking_utils.find_packed_sequence_indices = lambda *_: None
    torch.nn.parallel.distributed._verify_param_shape_across_processes = lambda *_: None
    torch.backends.cuda.enable_cudnn_sdp(False)
    dist.init_process_group("fake", rank=0, world_size=case["ranks"], store=FakeStore())
    model = built(case)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **{case["optimizer"]: True})
    for _ in range(STEPS):
        for micro_batch in range(case["accumulation"]):
            ids = torch.zeros(case["micro_batch"], case["sequence"], dtype=torch.long, device="cuda")
            with synchronised(case, model, micro_batch + 1 == case["accumulation"]):
                loss = forward(case, model, ids) / case["accumulation"]
                loss.backward()
            del loss
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()


def answer(case):
    failed = False
    if case.get("history"):
        torch.cuda.memory._record_memory_history(stacks="python", max_entries=10**7)
    try:
        train(dict(case))
    except torch.OutOfMemoryError:
        failed = True
    if case.get("history"):
        torch.cuda.memory._dump_snapshot(case["history"] + case["events"])
    return {"failed": failed, "retries": torch.cuda.memory_stats()["num_alloc_retries"], **peaks()}


answer_all(answer)
