"""Runs programs that `shardlab export --to script` wrote, one after the other, on one GPU: as they are where they are for one rank, and as rank 0
of a group without peers where they are for several. What a gather brings are copies of this rank's shard and what a reduction brings is
this rank's own part, so memory and compute are those of rank 0 of a real run, and communication costs copies alone.

Of each: seconds and the allocator's peaks of every step, memory of the process beside the allocator's, then one step's allocations and one
step's operators and kernels by the profiler. Every program has a process of its own, forked once torch is loaded and before it has looked at
the GPU. Usage: _exported_on_gpu.py CASES.json ANSWERS; CASES: [{name, scenario, program, ranks, steps}]; ANSWERS: a folder, of which each case gets a file.
"""
import gc
import gzip
import importlib.util
import json
import os
import pathlib
import socket
import sys
import time
import traceback

os.environ.update(HF_HUB_OFFLINE="1", PYTORCH_NVML_BASED_CUDA_CHECK="1")
import torch
import torch.distributed as dist
import transformers
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore

FIGURES = ("requested_bytes", "allocated_bytes", "active_bytes", "reserved_bytes")
MOST_ROWS = 250  # of operators and of kernels
ANNOTATIONS = ("Command Buffer Full",)
HOLLOW = "hollow" in os.environ.get("LD_PRELOAD", "")  # a GPU that computes nothing: a rehearsal


def load(program):
    spec = importlib.util.spec_from_file_location("exported", program)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def alone(ranks):
    """A group of which this process is rank 0 and the only one that exists."""
    real = dist.init_process_group
    dist.init_process_group = lambda *_, **__: real("fake", rank=0, world_size=ranks, store=FakeStore())

    def reduce_scatter_tensor(output, input, *_, async_op=False, **__):
        output.copy_(input.flatten()[:output.numel()].view_as(output))
        return Done() if async_op else None

    def all_gather_object(objects, mine, *_, **__):
        objects[:] = [mine] * len(objects)

    class Replicated(DistributedDataParallel):
        """The group's all-reduce returns nothing; the hook leaves the bucket as it is."""

        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.register_comm_hook(None, left_alone)

    torch.nn.parallel.distributed._verify_param_shape_across_processes = lambda *_: None
    torch.nn.parallel.DistributedDataParallel = Replicated
    dist.reduce_scatter_tensor, dist.all_gather_object, dist.broadcast = reduce_scatter_tensor, all_gather_object, lambda *_, **__: None


def left_alone(_, bucket):
    future = torch.futures.Future(devices=[torch.device("cuda", 0)])
    future.set_result(bucket.buffer())
    return future


class Done:
    def wait(self, *_):
        return True


def fill(model, place):
    """Values of the usual size, made there. Buffers, the rotary frequencies, as their modules make them."""
    model.to_empty(device=place)
    for module in model.modules():
        module._buffers.update({name: buffer.to("cuda") for name, buffer in module._buffers.items() if buffer is not None})
    if model.config.tie_word_embeddings:
        model.tie_weights()
    with torch.no_grad():
        for parameter in model.parameters():
            local = parameter.to_local() if hasattr(parameter, "to_local") else parameter
            local.normal_(0.0, 0.02) if parameter.dim() > 1 else local.fill_(1.0)
        for module in model.modules():
            if hasattr(module, "inv_freq"):
                fresh = dict(type(module)(config=model.config).to("cuda").named_buffers())
                for name, buffer in module.named_buffers(recurse=False):
                    buffer.copy_(fresh[name])


def made_on_gpu(module):
    """Instead of on the processor: eight billion values take a minute there."""
    make, streams = module.make_model, hasattr(module, "fill_from_rank0")

    def make_model(weights):
        if torch.empty(0).device.type == "meta":
            return make(weights)
        if streams:
            return None
        with torch.device("cuda"):
            return make(weights)

    module.make_model = make_model
    module.fill_from_rank0 = lambda model, _: fill(model, "cpu" if hasattr(module, "CPUOffloadPolicy") else "cuda")


def used_of_device():
    free, total = torch.cuda.mem_get_info()
    return total - free


class Measured:
    """In the place of the program's record."""

    def __init__(self, _folder):
        self.steps, self.losses, self.seconds, self.answer = [], [], [], {}

    def step(self, run):
        if not self.steps:
            gc.collect()
            torch.cuda.empty_cache()
            self.answer["before"] = {**self.figures(), "device": used_of_device()}
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        began = time.perf_counter()
        loss = run()
        torch.cuda.synchronize()
        self.seconds.append(time.perf_counter() - began)
        self.losses.append(loss)
        self.steps.append({"seconds": self.seconds[-1], **self.figures(), "device": used_of_device()})

    @staticmethod
    def figures():
        statistics = torch.cuda.memory_stats()
        read = lambda end: {figure: statistics.get(f"{figure}.all.{end}", 0) for figure in FIGURES}
        return {"peak": read("peak"), "now": read("current"), "retries": statistics.get("num_alloc_retries", 0)}

    def profile(self, run):
        self.answer["losses"] = [loss.item() for loss in self.losses]
        torch.cuda.memory._record_memory_history(context=None, max_entries=10**6)
        run(len(self.steps))
        torch.cuda.synchronize()
        snapshot = torch.cuda.memory._snapshot()
        torch.cuda.memory._record_memory_history(enabled=None)
        self.answer["allocations"] = [(event["action"], event["addr"], event["size"], event["stream"])
                                      for event in max(snapshot["device_traces"], key=len)]
        if not HOLLOW:
            self.answer.update(profiled(lambda: run(len(self.steps) + 1)))

    def finish(self):
        pass


def profiled(run):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, record_shapes=True) as profiler:
        run()
        torch.cuda.synchronize()
    # Annotations lie on the GPU's side too; so does what waited for room in the queue.
    on_gpu = [event for event in profiler.events() if event.device_type == torch.autograd.DeviceType.CUDA
              and not event.is_user_annotation and event.name not in ANNOTATIONS and not event.name.startswith("Optimizer.")]
    kernels = {}
    for event in on_gpu:
        row = kernels.setdefault(event.name, [0, 0.0])
        row[0] += 1
        row[1] += event.device_time
    spans = sorted((event.time_range.start, event.time_range.end) for event in on_gpu)
    busy, end = 0.0, 0.0
    for start, stop in spans:
        busy += max(0.0, stop - max(start, end))
        end = max(end, stop)
    operators = [[average.key, average.input_shapes, average.count, average.self_device_time_total]
                 for average in profiler.key_averages(group_by_input_shape=True)
                 if average.self_device_time_total > 0 and average.key.startswith(("aten::", "fsdp::", "c10d::"))]
    return {"busy_us": busy, "span_us": end - spans[0][0] if spans else 0.0,
            "kernels": sorted(([name, *row] for name, row in kernels.items()), key=lambda row: -row[2])[:MOST_ROWS],
            "operators": sorted(operators, key=lambda row: -row[3])[:MOST_ROWS]}


def measure(case):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    if case.get("conf"):
        os.environ["PYTORCH_ALLOC_CONF"] = case["conf"]
    if case["ranks"] > 1 or HOLLOW:
        alone(case["ranks"])
    module = load(case["program"])
    os.environ["WORLD_SIZE"] = str(module.RANKS)
    if HOLLOW:
        transformers.masking_utils.find_packed_sequence_indices = lambda *_: None
        torch.backends.cuda.enable_cudnn_sdp(False)
    made_on_gpu(module)
    kept = []
    module.Record = lambda folder: kept.append(Measured(folder)) or kept[0]
    sys.argv = [case["program"], "--steps", str(case["steps"])]
    answer = {"name": case["name"], "scenario": case["scenario"], "ranks": module.RANKS, "torch": torch.__version__, "transformers": transformers.__version__,
              "cudnn": torch.backends.cudnn.version()}
    try:
        module.main()
    except torch.OutOfMemoryError as error:
        answer["out_of_memory"] = str(error)[:600]
    record, = kept
    return {**answer, "device": torch.cuda.get_device_name(), "device_total": torch.cuda.mem_get_info()[1],
            "context": used_of_device() - torch.cuda.memory_reserved(), "steps": record.steps, **record.answer}


def in_a_process(case, path):
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            answer = measure(case)
            with gzip.open(path, "wt") as stream:
                json.dump(answer, stream)
            code = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(f"{case['name']}: {'good' if code == 0 else f'ended with {code}'} ({time.monotonic() - began:.1f} s)", flush=True)
    return code == 0


def main():
    answers = pathlib.Path(sys.argv[2])
    answers.mkdir(parents=True, exist_ok=True)
    cases = json.loads(pathlib.Path(sys.argv[1]).read_text())
    good = [in_a_process(case, answers / f"{case['name']}.json.gz") for case in cases]
    sys.exit(0 if all(good) else 1)


main()
