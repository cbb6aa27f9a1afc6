"""The `parallel` and `precision` sections of a scenario in PyTorch's own terms: DDP, FSDP1, FSDP2."""
import contextlib
import functools

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (BackwardPrefetch, FullyShardedDataParallel, MixedPrecision, MixedPrecisionPolicy, ShardingStrategy,
                                    fully_shard)
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy, transformer_auto_wrap_policy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from _llama import LlamaDecoderLayer

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
SHARDINGS = {"full_shard": ShardingStrategy.FULL_SHARD, "shard_grad_op": ShardingStrategy.SHARD_GRAD_OP,
             "no_shard": ShardingStrategy.NO_SHARD, "hybrid_shard": ShardingStrategy.HYBRID_SHARD,
             "hybrid_shard_zero2": ShardingStrategy._HYBRID_SHARD_ZERO2}
PREFETCH = {"pre": BackwardPrefetch.BACKWARD_PRE, "post": BackwardPrefetch.BACKWARD_POST, "none": None}


def make_mesh(parallel):
    mesh = parallel.get("mesh", {})
    if mesh.get("replicate", 1) > 1:
        return init_device_mesh("cpu", (mesh["replicate"], mesh["shard"]), mesh_dim_names=("replicate", "shard"))
    return init_device_mesh("cpu", (dist.get_world_size(),))


def dtypes(precision):
    return [DTYPES[precision[key]] if key in precision else None for key in ("param", "reduce")]


def ignored_modules(model, parallel):
    return [model.get_submodule(path) for path in parallel.get("wrap", {}).get("ignored", [])]


def fsdp1(model, parallel, precision):
    param, reduce = dtypes(precision)
    wrap = parallel.get("wrap", {"policy": "transformer"})
    policies = {"none": None, "transformer": functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={LlamaDecoderLayer}),
                "size": functools.partial(size_based_auto_wrap_policy, min_num_params=wrap.get("min_params"))}
    prefetch = parallel.get("prefetch", {})
    hybrid = parallel.get("sharding", "").startswith("hybrid")
    return FullyShardedDataParallel(
        model, ignored_modules=ignored_modules(model, parallel), sharding_strategy=SHARDINGS[parallel.get("sharding", "full_shard")], auto_wrap_policy=policies[wrap["policy"]],
        device_mesh=make_mesh(parallel) if hybrid else None, use_orig_params=parallel.get("use_orig_params", True),
        mixed_precision=MixedPrecision(param_dtype=param, reduce_dtype=reduce) if param else None,
        backward_prefetch=PREFETCH[prefetch.get("backward", "pre")], forward_prefetch=prefetch.get("forward", False),
        limit_all_gathers=prefetch.get("limit_all_gathers", True), device_id=torch.device("cpu"))


def fsdp2(model, parallel, precision):
    param, reduce = dtypes(precision)
    policy = MixedPrecisionPolicy(param_dtype=param, reduce_dtype=reduce) if param else MixedPrecisionPolicy()
    mesh, layers = make_mesh(parallel), list(model.model.layers)
    reshard = parallel.get("reshard_after_forward")
    ignored = ignored_modules(model, parallel)
    parameters = {parameter for module in ignored for parameter in module.parameters()}
    layers = [layer for layer in layers if layer not in ignored]
    unit = functools.partial(fully_shard, mesh=mesh, mp_policy=policy, ignored_params=parameters)
    below = {} if reshard is None else {"reshard_after_forward": reshard}
    units = []
    if parallel.get("wrap", {}).get("policy") != "none":
        units += [unit(layer, **below) for layer in layers]
    for paths in parallel.get("wrap", {}).get("together", []):
        units.append(unit([model.get_submodule(path) for path in paths], **{**below, **reshard_of(parallel, paths[-1])})[0])
    unit(model, **reshard_of(parallel, ""))
    prefetch = parallel.get("prefetch", {})
    order = [model, *units]
    for index, module in enumerate(order):
        if depth := prefetch.get("forward_depth"):
            module.set_modules_to_forward_prefetch(order[index + 1:index + 1 + depth])
        if depth := prefetch.get("backward_depth"):
            before = list(reversed(units)) if module is model else list(reversed(units[:index - 1]))
            module.set_modules_to_backward_prefetch(before[:depth])
    return model


def reshard_of(parallel, path):
    """What an override of parallel.wrap says for the unit of this module; the root has the path of no module."""
    found = {}
    for override in parallel.get("wrap", {}).get("overrides", []):
        if override["match"].get("path", "") == path:
            found = override["settings"]
    return found


def ddp(model, parallel, _):
    sizes = parallel.get("ddp", {})
    wrapped = DistributedDataParallel(model, bucket_cap_mb=sizes.get("bucket_size", 25 * 2**20) / 2**20,
                                      gradient_as_bucket_view=sizes.get("gradient_as_bucket_view", False))
    # The reducer's own all-reduce is out of Python's sight; this hook makes the same one.
    wrapped.register_comm_hook(None, allreduce_hook)
    return wrapped


class Around(torch.nn.Module):
    """A checkpoint around a module and its hooks."""

    def __init__(self, module, reentrant):
        super().__init__()
        self.module, self.reentrant = module, reentrant

    def forward(self, *args):
        return checkpoint(self.module, *args, use_reentrant=self.reentrant)


def checkpointed_layers(layers, activation):
    return [index for index in range(len(layers)) if (index + 1) % activation.get("every", 1) == 0]


def checkpoint_inside(layers, activation):
    """Of a module without its hooks: what FSDP does with the module happens around the checkpoint."""
    for index in checkpointed_layers(layers, activation):
        layers[index].forward = functools.partial(checkpoint, layers[index].forward, use_reentrant=activation.get("reentrant", False))


def checkpoint_outside(layers, activation):
    for index in checkpointed_layers(layers, activation):
        layers[index] = Around(layers[index], activation.get("reentrant", False))


def freeze(model, patterns):
    for name, parameter in model.named_parameters():
        if any(name == pattern or name.startswith(pattern + ".") for pattern in patterns):
            parameter.requires_grad = False


def wrapped(model, scenario):
    make = {"fsdp1": fsdp1, "fsdp2": fsdp2, "ddp": ddp}[scenario["parallel"]["strategy"]]
    activation, layers = scenario.get("activation"), model.model.layers
    freeze(model, scenario["model"].get("frozen", []))
    if activation and activation.get("placement", "inside") == "inside":
        checkpoint_inside(layers, activation)
    model = make(model, scenario["parallel"], scenario.get("precision", {}))
    if activation and activation.get("placement") == "outside":
        checkpoint_outside(layers, activation)
    return model


def synchronised(model, scenario, micro_batch):
    """The context of one forward and backward."""
    train, parallel = scenario["train"], scenario["parallel"]
    last = micro_batch + 1 == train["accumulation"]
    sync = last or train["sync"] == "every"
    if parallel["strategy"] == "fsdp2":
        model.set_requires_gradient_sync(sync)
        model.set_reshard_after_backward(last or parallel.get("reshard_after_backward", True))
        model.set_requires_all_reduce(last or parallel.get("requires_all_reduce", True))
        return contextlib.nullcontext()
    return contextlib.nullcontext() if sync else model.no_sync()


def clip(model, limit):
    if isinstance(model, FullyShardedDataParallel):
        return model.clip_grad_norm_(limit)
    return torch.nn.utils.clip_grad_norm_(model.parameters(), limit)
