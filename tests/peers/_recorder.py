"""Notes every collective that Python's FSDP2 makes: kind, bytes of the full side, dtype, ranks of the group.

FSDP2 calls torch.distributed's functions, DTensor (gradient clipping) the functional ones; both are wrapped by name.
"""
import functools
import inspect

import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.distributed.distributed_c10d as c10d

KINDS = {"all_gather_into_tensor": "AllGather", "reduce_scatter_tensor": "ReduceScatter", "all_reduce": "AllReduce",
         "broadcast": "Broadcast", "all_gather": "AllGather", "all_to_all_single": "AllToAll"}
FUNCTIONAL_KINDS = {"all_reduce": "AllReduce", "all_gather_tensor": "AllGather", "reduce_scatter_tensor": "ReduceScatter",
                    "all_to_all_single": "AllToAll", "broadcast": "Broadcast"}


def _bytes(value):
    tensors = value if isinstance(value, (list, tuple)) else [value]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


class Recorder:
    """`calls` grows while `on`; replace it to begin a new list."""

    def __init__(self):
        self.calls, self.on, self._inside = [], False, 0
        for name, kind in KINDS.items():
            wrapped = self._wrap(getattr(c10d, name), kind, self._eager_call)
            setattr(c10d, name, wrapped)
            setattr(dist, name, wrapped)
        for name, kind in FUNCTIONAL_KINDS.items():
            setattr(functional, name, self._wrap(getattr(functional, name), kind, self._functional_call))

    def _wrap(self, function, kind, describe):
        signature = inspect.signature(inspect.unwrap(function))

        @functools.wraps(function)
        def recorded(*args, **kwargs):
            if self.on and not self._inside:
                bound = signature.bind(*args, **kwargs)
                bound.apply_defaults()
                self.calls.append({"kind": kind, **describe(kind, bound.arguments)})
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
