"""One rank of trainings by DeepSpeed's ZeRO-3 whose optimizer lies in files. argv: cases (JSON file) and the folder to answer in, where the
files lie in drive/. Rank 0 writes answer.json: for each case what tests/data/swaps/README.md describes, or {"error": text} where DeepSpeed
fails. Needs DS_ACCELERATOR=cpu where no GPU is.

A case: config (config.json of a Llama), deepspeed (its configuration; nvme_path is filled in), sequence_length. Files are read and written
by Python: DeepSpeed's own extension has to be compiled, and made the same events.
"""
import contextlib
import functools
import os
import re
import sys
import types

import torch

from _recorder import Recorder

recorder = Recorder()  # before DeepSpeed takes the functions of torch.distributed
import deepspeed  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from deepspeed.runtime.swap_tensor import (async_swapper, optimizer_utils, partitioned_optimizer_swapper,  # noqa: E402
                                           pipelined_optimizer_swapper, utils)
from deepspeed.runtime.zero.stage3 import DeepSpeedZeroOptimizer_Stage3  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM  # noqa: E402

from _rank import answer  # noqa: E402

deepspeed.utils.logger.setLevel("ERROR")
SWAPPERS = (partitioned_optimizer_swapper.PartitionedOptimizerSwapper, pipelined_optimizer_swapper.PipelinedOptimizerSwapper)
HANDLES = {"aio_handle": "all", "read_aio_handle": "reads", "write_aio_handle": "writes"}
STEPS = 3  # the second and the third are alike


def note(kind, **fields):
    """Among the collectives, in the order of time."""
    if recorder.on:
        recorder.calls.append({"kind": kind, **fields})


def size(tensor):
    return tensor.numel() * tensor.element_size()


class PythonFiles:
    """What DeepSpeed's aio_handle does, at once."""
    locked = {}  # address: bytes, of all handles

    def __init__(self, **_):
        self.pending = 0

    def async_pread(self, tensor, path, offset):
        bytes_of(tensor)[:] = torch.frombuffer(bytearray(read(path, offset, size(tensor))), dtype=torch.uint8)
        self.pending += 1
        return 0

    def async_pwrite(self, tensor, path, offset):
        with open(path, "r+b" if os.path.exists(path) else "wb") as file:
            file.seek(offset)
            file.write(bytes_of(tensor).numpy().tobytes())
        self.pending += 1
        return 0

    def wait(self):
        done, self.pending = self.pending, 0
        return done

    def new_cpu_locked_tensor(self, count, like):
        made = torch.empty(count, dtype=like.dtype)
        self.locked[made.data_ptr()] = size(made)
        return made

    def free_cpu_locked_tensor(self, tensor):
        return self.locked.pop(tensor.data_ptr(), None) is not None

    def is_pinned(self, tensor):
        first = tensor.data_ptr()
        return any(start <= first and first + size(tensor) <= start + length for start, length in self.locked.items())


def bytes_of(tensor):
    return tensor.detach().view(-1).view(torch.uint8)


def read(path, offset, count):
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(count)


class Handle(PythonFiles):
    """One that notes what it is asked for. `name` comes when its owner is there."""
    name = None

    def async_pread(self, tensor, path, offset):
        note("read", file=os.path.basename(path), bytes=size(tensor))
        return super().async_pread(tensor, path, offset)

    def async_pwrite(self, tensor, path, offset):
        note("write", file=os.path.basename(path), bytes=size(tensor))
        return super().async_pwrite(tensor, path, offset)

    def wait(self):
        done = super().wait()
        note("wait", handle=self, done=done)
        return done


def before(owner, name, tell):
    """Calls tell(self, *args) before the method."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def told(self, *args, **kwargs):
        tell(self, *args, **kwargs)
        return function(self, *args, **kwargs)

    setattr(owner, name, told)


def after(owner, name, tell):
    """Calls tell(self, result, *args) after the method."""
    function = getattr(owner, name)

    @functools.wraps(function)
    def told(self, *args, **kwargs):
        result = function(self, *args, **kwargs)
        tell(self, result, *args, **kwargs)
        return result

    setattr(owner, name, told)


def name_handles(swapper, *_, **__):
    for name, value in vars(swapper).items():
        if isinstance(value, Handle) and value.name is None:
            value.name = name.removeprefix("optimizer.")


masters = [False]  # whether the first writing of masters is under way


def write_masters(function):
    @functools.wraps(function)
    def noted(self, *args, **kwargs):
        masters[0], recorder.on = True, True
        try:
            return function(self, *args, **kwargs)
        finally:
            masters[0], recorder.on = False, False
    return noted


def watch_swappers():
    for swapper in SWAPPERS:
        after(swapper, "__init__", name_handles)
    manager, pool = utils.SwapBufferManager, async_swapper.AsyncTensorSwapper
    optimizer_utils.OptimizerSwapper._initialize_parameters = write_masters(optimizer_utils.OptimizerSwapper._initialize_parameters)
    after(pool, "_allocate_buffer", lambda self, _: note("gradient_buffer", index=self.current_buffer_index))
    after(manager, "allocate", lambda self, made, num_elems, count, dtype: note("take", count=count, used=len(self.used_buffer_index)))
    after(manager, "free", lambda self, _, buffers: note("give", count=len(buffers), used=len(self.used_buffer_index)))
    after(optimizer_utils.OptimizerStateSwapInfo, "release_unswapped_gradients", lambda self, _: note("forget", group=self.param_id))
    before(utils.SwapBuffer, "insert_tensor", lambda self, tensor, path, aligned_numel: note(
        "copy", file=os.path.basename(path), bytes=4 * tensor.numel()))
    before(optimizer_utils.OptimizerSwapper, "_swap_out_unpinned_tensors", lambda self, unpinned_tensors, dest_paths, **_: [
        note("copy", file=os.path.basename(path), bytes=4 * tensor.numel()) for tensor, path in zip(unpinned_tensors, dest_paths)])
    before(optimizer_utils.OptimizerStateSwapInfo, "read_unswapped_gradients", lambda self, dest_buffer: [
        note("kept", group=self.param_id, offset=offset, bytes=size(each)) for offset, each in self.unswapped_gradients.items()])
    sized = pipelined_optimizer_swapper.get_sized_buffer

    def copied(buffer, count):  # of states that are not in page-locked memory yet
        note("copy", file=None, bytes=count * buffer.element_size())
        return sized(buffer, count)
    pipelined_optimizer_swapper.get_sized_buffer = copied


def watch_optimizer():
    for name, kind in (("_optimizer_step", "update"), ("unscale_and_clip_grads", "clip"),
                       ("_reassign_or_swap_out_partitioned_parameters", "parameters")):
        before(DeepSpeedZeroOptimizer_Stage3, name, lambda self, group, *_, kind=kind: note(kind, group=group))


watch_swappers()
watch_optimizer()
for module in (partitioned_optimizer_swapper, pipelined_optimizer_swapper):
    module.AsyncIOBuilder = lambda: types.SimpleNamespace(load=lambda *_, **__: types.SimpleNamespace(aio_handle=Handle))


def configuration(case, folder):
    """DeepSpeed's own, with the place of the files."""
    made = {**case["deepspeed"], "zero_allow_untested_optimizer": True, "zero_force_ds_cpu_optimizer": False}  # its own has to be compiled
    zero = made["zero_optimization"] = dict(made["zero_optimization"])
    zero["offload_optimizer"] = {"nvme_path": folder, **zero["offload_optimizer"]}
    return made


class Lines:
    """Events as the lines of a recording."""

    def __init__(self, groups):
        self.groups = {f"{group[0]}_{group[-1]}": index for index, group in enumerate(groups)}

    def of(self, calls):
        return [line for line in map(self.line, calls) if line]

    def file(self, name):
        found = re.fullmatch(r"(?:(exp_avg|exp_avg_sq)-)?(\d+_\d+)(?:_gradient_(\d+)_(\d+))?[.]tensor[.]swp", name)
        group = self.groups[found[2]]
        return f"gradient {group} @{found[3]}" if found[3] is not None else f"{found[1] or 'master'} {group}"

    def line(self, call):
        kind = call["kind"]
        if kind in ("AllGather", "ReduceScatter", "AllReduce"):
            return f"{kind} {call['bytes']} {call['dtype']}"
        if kind in ("read", "write"):
            return f"{kind} {self.file(call['file'])} {call['bytes']}"
        if kind == "wait":
            return f"wait {HANDLES[call['handle'].name]} {call['done']}"
        if kind in ("take", "give"):
            return f"{kind} {call['count']} used {call['used']}"
        if kind == "gradient_buffer":
            return f"{kind} {call['index']}"
        if kind == "copy":
            return self.copy(call)
        if kind == "kept":
            return f"kept {self.groups[call['group']]} @{call['offset']} {call['bytes']}"
        if kind == "forget":
            return f"forget {self.groups[call['group']]}"
        return f"{kind} {call['group']}" if kind in ("clip", "update", "parameters") else None

    def copy(self, call):
        """Masters are noted before the first of them is taken up: not where they are copied."""
        if call["file"] is None or "exp_avg" in call["file"]:
            return f"copy state {call['bytes']}"
        return None if "_gradient_" not in call["file"] else f"copy {self.file(call['file'])} {call['bytes']}"


def kept_gradients(optimizer):
    """By sub-group that is swapped: what stays in memory, as offset, elements and bytes of the storage that it is a view of."""
    infos = [optimizer.optimizer_swapper.swap_params_info.get(each.ds_id) for each in optimizer.fp32_partitioned_groups_flat]
    stayed = lambda info: [[offset, each.numel(), each.untyped_storage().nbytes()] for offset, each in info.unswapped_gradients.items()]
    return [None if info is None else stayed(info) for info in infos]


def train_step(engine, case, rank, step):
    """What stayed in memory when the update began."""
    vocabulary, stayed = case["config"]["vocab_size"], None
    for micro_batch in range(engine.gradient_accumulation_steps()):
        generator = torch.Generator().manual_seed(1000 * step + 10 * micro_batch + rank)
        ids = torch.randint(0, vocabulary, (engine.train_micro_batch_size_per_gpu(), case["sequence_length"] + 1), generator=generator)
        logits = engine(input_ids=ids[:, :-1]).logits
        engine.backward(F.cross_entropy(logits.float().reshape(-1, vocabulary), ids[:, 1:].reshape(-1)))
        stayed = kept_gradients(engine.optimizer)
        engine.step()
    return stayed


@contextlib.contextmanager
def recording(into):
    recorder.calls, recorder.on = [], True
    try:
        yield
    finally:
        recorder.on = False
        into.append(recorder.calls)


def made_of(case, engine, setup, steps, stayed):
    optimizer, swapper = engine.optimizer, engine.optimizer.optimizer_swapper
    manager = swapper.swap_buffer_manager
    parameters = [each for group in optimizer.fp16_groups for each in group]
    number = {each.ds_id: index for index, each in enumerate(parameters)}
    groups = [[each.ds_id for each in group] for group in optimizer.fp16_groups]
    lines = Lines(groups)
    first, second, third = map(lines.of, steps)
    return {"deepspeed": case["deepspeed"], "config": case["config"], "sequence_length": case["sequence_length"],
            "partitions": [each.partition_numel() for each in parameters], "groups": [[number[each] for each in group] for group in groups],
            "pool": {"buffers": manager.count, "buffer_elements": manager.num_elems, "bytes": sum(map(size, manager.all_buffers)),
                     "least_bytes": swapper.min_aio_bytes, "alignment_elements": swapper.numel_alignment},
            "kept": stayed, "setup": lines.of(setup), "first": first, "steady": third, "settled": second == third}


def run(case, rank, world, folder):
    torch.set_num_threads(1)
    deepspeed.utils.groups._ZERO_PARAM_INTRA_PARALLEL_GROUP = None  # of the training before: it asks for one in a process
    steps, recorder.calls, recorder.on = [], [], False
    try:
        torch.manual_seed(0)
        model = LlamaForCausalLM(LlamaConfig(**case["config"], use_cache=False, attn_implementation="eager"))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
        engine = deepspeed.initialize(model=model, optimizer=optimizer, config=configuration(case, folder), dist_init_required=False)[0]
        setup = recorder.calls
        for step in range(STEPS):
            with recording(steps):
                stayed = train_step(engine, case, rank, step)
        return made_of(case, engine, setup, steps, stayed)
    except Exception as raised:  # told as what DeepSpeed fails with
        return {"error": f"{type(raised).__name__}: {raised}"}


if __name__ == "__main__":
    answer(lambda case, rank, world: run(case, rank, world, os.path.join(sys.argv[2], "drive")),
           prepare=lambda: deepspeed.init_distributed(dist_backend="gloo", auto_mpi_discovery=False))
