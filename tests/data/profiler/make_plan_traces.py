"""Writes plan_*.json.gz: one step of a small Llama-like model on two processes over Gloo, under each way of sharding, as torch.profiler
records it on rank 0. What shows the plan is kept alone: annotations, collectives with what goes in, names of modules and files.

    python3 make_plan_traces.py [FOLDER [NAME ...]]    needs torch, deepspeed for plan_zero*; the kept files: torch 2.11, DeepSpeed 0.19.8
"""

import gzip
import json
import os
import re
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from make_gloo_traces import VOCABULARY, LlamaDecoderLayer, SmallLlama
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecisionPolicy, ShardingStrategy, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

BATCH = (2, 17)


def model_of(layers):
    model = SmallLlama()
    model.layers = nn.ModuleList(LlamaDecoderLayer() for _ in range(layers))
    return model


def fsdp2(model, **settings):
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, **settings)
    return fully_shard(model, mesh=mesh, **settings)


def fsdp1(model, strategy):
    return FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({LlamaDecoderLayer}), sharding_strategy=strategy,
                                    device_id=torch.device("cpu"), use_orig_params=True)


def plain_step(model, optimizer, batches):
    for number, tokens in enumerate(batches):
        if hasattr(model, "set_requires_gradient_sync"):
            model.set_requires_gradient_sync(number + 1 == len(batches))
        loss_of(model, tokens).backward()
    optimizer.step()
    optimizer.zero_grad()


def loss_of(model, tokens):
    return nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def deepspeed_step(engine, _, batches):
    for tokens in batches:
        engine.backward(loss_of(engine, tokens))
        engine.step()


def deepspeed_engine(model, stage):
    import deepspeed

    deepspeed.utils.logger.setLevel("ERROR")
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # would be compiled first
    deepspeed.init_distributed(dist_backend="gloo", auto_mpi_discovery=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    configuration = {"train_micro_batch_size_per_gpu": BATCH[0], "zero_allow_untested_optimizer": True, "gradient_accumulation_steps": 1, "bf16": {"enabled": True},
                     "zero_optimization": {"stage": stage, "stage3_param_persistence_threshold": 0}}
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=configuration, dist_init_required=False)
    return engine


POLICY = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
# name -> (layers, what makes it of the model, micro-batches)
PLANS = {
    "plan_fsdp2": (6, fsdp2, 1),
    "plan_fsdp2_kept": (3, lambda model: fsdp2(model, reshard_after_forward=False, mp_policy=POLICY), 2),
    "plan_fsdp1": (4, lambda model: fsdp1(model, ShardingStrategy.FULL_SHARD), 1),
    "plan_fsdp1_grad_op": (4, lambda model: fsdp1(model, ShardingStrategy.SHARD_GRAD_OP), 1),
    "plan_ddp": (3, DistributedDataParallel, 1),
    "plan_zero1": (3, lambda model: deepspeed_engine(model, 1), 1),
    "plan_zero3": (3, lambda model: deepspeed_engine(model, 3), 1),
}

OF_DEEPSPEED = re.compile(r"deepspeed/runtime/(engine|zero/stage3|zero/stage_1_and_2)\.py\(\d+\): (forward|backward|step)$")


def is_kept(event, seen):
    name = event["name"]
    if event.get("cat") == "python_function":  # with_stack=True: each name once
        kept = name not in seen and (name.startswith("nn.Module: ") or OF_DEEPSPEED.search(name))
        seen.add(name)
        return bool(kept)
    return event.get("cat") == "user_annotation" or (event.get("cat") == "cpu_op" and name.startswith("c10d::"))


def shorten(source, target):
    with open(source, encoding="utf-8") as file:
        trace = json.load(file)
    events, seen = [], set()
    for event in trace["traceEvents"]:
        if not is_kept(event, seen):
            continue
        if event.get("cat") == "python_function":
            event["name"] = re.sub(r"^.*(deepspeed/)", r"\1", event["name"])
        event["args"] = {name: value for name, value in event.get("args", {}).items() if name in ("Input Dims", "Input type")}
        events.append(event)
    frame = {name: trace[name] for name in ("schemaVersion", "distributedInfo") if name in trace}
    with gzip.GzipFile(target, "wb", mtime=0) as file:
        file.write(json.dumps({**frame, "traceEvents": events}, separators=(",", ":")).encode())


def train(rank, name, folder):
    layers, shard, micro_batches = PLANS[name]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29519", RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = shard(model_of(layers))
    step = deepspeed_step if name.startswith("plan_zero") else plain_step
    optimizer = torch.optim.AdamW(model.parameters(), fused=True) if step is plain_step else None
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True, schedule=schedule(wait=1, warmup=1, active=1)) as profiler:
        for _ in range(3):
            step(model, optimizer, [torch.randint(0, VOCABULARY, BATCH) for _ in range(micro_batches)])
            profiler.step()
    if rank == 0:
        whole = os.path.join(folder, f"whole_{name}.json")
        profiler.export_chrome_trace(whole)
        shorten(whole, os.path.join(folder, f"{name}.json.gz"))
        os.remove(whole)
    dist.barrier()
    os._exit(0)  # DeepSpeed's threads outlive the process group


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for each in sys.argv[2:] or PLANS:
        multiprocessing.spawn(train, args=(each, target), nprocs=2)
