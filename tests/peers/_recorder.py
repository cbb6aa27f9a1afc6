"""Notes every collective that Python's FSDP2 makes: kind, bytes of the full side, dtype, ranks of the group; and the bytes of gathered
parameters that are alive when it is issued, where it is told which model to look at.

FSDP2 calls torch.distributed's functions, DTensor (gradient clipping) the functional ones; both are wrapped by name.
"""
import functools
import inspect

import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.distributed.distributed_c10d as c10d
from torch.distributed.fsdp import FSDPModule

KINDS = {"all_gather_into_tensor": "AllGather", "reduce_scatter_tensor": "ReduceScatter", "all_reduce": "AllReduce",
         "broadcast": "Broadcast", "all_gather": "AllGather", "all_to_all_single": "AllToAll", "reduce": "Reduce"}
FUNCTIONAL_KINDS = {"all_reduce": "AllReduce", "all_gather_tensor": "AllGather", "reduce_scatter_tensor": "ReduceScatter",
                    "all_to_all_single": "AllToAll", "broadcast": "Broadcast"}


def _bytes(value):
    tensors = value if isinstance(value, (list, tuple)) else [value]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def gathered_bytes(model):
    """Of parameters that stand whole, or over the group of an integer reshard_after_forward, with their padding."""
    groups = {id(group): group for module in model.modules() if isinstance(module, FSDPModule)
              for group in [module._get_fsdp_state()._fsdp_param_group] if group is not None}
    tensors = [tensor for group in groups.values() for parameter in group.fsdp_params
               for tensor in [*parameter.all_gather_outputs, getattr(parameter, "_sharded_post_forward_param_data", None)] if tensor is not None]
    return sum(tensor.untyped_storage().size() for tensor in tensors)


class Recorder:
    """`calls` grows while `on`; replace it to begin a new list."""

    def __init__(self):
        self.calls, self.on, self._inside, self.watched = [], False, 0, None
        for name, kind in KINDS.items():
            wrapped = self._wrap(getattr(c10d, name), kind, self._eager_call)
            setattr(c10d, name, wrapped)
            setattr(dist, name, wrapped)
        for name, kind in FUNCTIONAL_KINDS.items():
            setattr(functional, name, self._wrap(getattr(functional, name), kind, self._functional_call))

    def mark(self, kind):
        """Something else that happens between collectives."""
        if self.on:
            self._note({"kind": kind})

    def _note(self, call):
        self.calls.append({**call, **({} if self.watched is None else {"gathered": gathered_bytes(self.watched)})})

    def _wrap(self, function, kind, describe):
        signature = inspect.signature(inspect.unwrap(function))

        @functools.wraps(function)
        def recorded(*args, **kwargs):
            if self.on and not self._inside:
                bound = signature.bind(*args, **kwargs)
                bound.apply_defaults()
                self._note({"kind": kind, **describe(kind, bound.arguments)})
            self._inside += 1
            try:
                return function(*args, **kwargs)
            finally:
                self._inside -= 1

        return recorded

    @staticmethod
    def _eager_call(_, call):
        first = call.get("input_tensor", call.get("input", call.get("tensor")))
        output = call.get("output_tensor", call.get("output", call.get("tensor_list", first)))
        ranks = dist.get_process_group_ranks(call["group"] or c10d._get_default_group())
        return {"bytes": max(_bytes(first), _bytes(output)), "dtype": str(first.dtype).removeprefix("torch."), "ranks": len(ranks)}

    @staticmethod
    def _functional_call(kind, call):
        tensor = call["self"]
        group = call["group"]
        # A mesh with one dimension, a (mesh, dimension) pair, or a process group.
        if isinstance(group, tuple):
            size = group[0].size(group[1])
        else:
            size = group.size()
        scale = size if kind == "AllGather" else 1
        return {"bytes": _bytes(tensor) * scale, "dtype": str(tensor.dtype).removeprefix("torch."), "ranks": size}
