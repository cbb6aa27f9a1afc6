"""The bytes of all storages that are alive, added up after every operator. A storage that was resized to nothing counts nothing."""
import collections

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode


class LiveBytes(TorchDispatchMode):
    """`peaks` by `phase`, and `at` which operator each was. Of storages that exist already it knows those that operators touch; those in
    `uncounted` (addresses of theirs) are left out, and so is what is made while it is `paused`."""

    def __init__(self, uncounted=()):
        super().__init__()
        self.uncounted, self.storages, self.phase, self.paused = uncounted, {}, "", False
        self.peaks, self.at = collections.defaultdict(int), {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        if self.paused:
            return made
        for tensor in _pytree.tree_leaves(made):
            if type(tensor) is not torch.Tensor or tensor.is_meta or tensor.untyped_storage()._cdata in self.uncounted:
                continue
            self.storages[tensor.untyped_storage()._cdata] = StorageWeakRef(tensor.untyped_storage())
        self.count(str(function))
        return made

    def live(self):
        live = 0
        for key, reference in list(self.storages.items()):
            if reference.expired():
                del self.storages[key]
                continue
            storage = torch.UntypedStorage._new_with_weak_ptr(reference.cdata)
            live += storage.nbytes() if storage is not None else 0
            del storage
        return live

    def count(self, function):
        live = self.live()
        if live > self.peaks[self.phase]:
            self.peaks[self.phase], self.at[self.phase] = live, function
