#include <nlohmann/json.hpp>

#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"

namespace shardlab {
namespace {

constexpr std::string_view k_scenario = R"py(
SCENARIO = """\
@SCENARIO@"""
)py";

constexpr std::string_view k_record = R"py(

class Record:
    """Times and losses of the steps, and what --record keeps of them: record.json and, of a few steps more, a profile of every rank."""

    PROFILED = 2  # steps

    def __init__(self, folder):
        self.folder = pathlib.Path(folder) if folder else None
        self.seconds, self.losses, self.memory = [], [], {}
        if self.folder:
            self.folder.mkdir(parents=True, exist_ok=True)

    def step(self, run):
@BEFORE@        began = time.perf_counter()
        self.losses.append(run())
@SYNCHRONIZE@        self.seconds.append(time.perf_counter() - began)

    def profile(self, run):
        """Steps after the measured ones, for the profiler makes them longer."""
        if not self.folder:
            return
@HISTORY@        with torch.profiler.profile(@WITH_MEMORY@record_shapes=True, acc_events=True) as profiler:
            for step in range(len(self.seconds), len(self.seconds) + self.PROFILED):
                with torch.profiler.record_function(f"ProfilerStep#{step}"):
                    run(step)
@SYNCHRONIZE4@        trace = self.folder / f"rank{dist.get_rank()}.trace.json"
        profiler.export_chrome_trace(str(trace))
@AFTER@
    def finish(self):
        """Rank 0 says and keeps how it went."""
@MEMORY@        losses = torch.stack(self.losses)
        dist.all_reduce(losses)
        mine = {"rank": dist.get_rank(), "seconds": self.seconds, **self.memory}
        ranks = [None] * dist.get_world_size()
        dist.all_gather_object(ranks, mine)
        if dist.get_rank() > 0:
            return
        warmup = min(WARMUP, len(self.seconds) - 1)
        steps = [max(times) for times in zip(*(rank["seconds"] for rank in ranks))][warmup:]
        print(f"step {statistics.median(steps):.6f} s in the median of {len(steps)}")
        if self.memory:
            print(f"peak allocated {max(rank['peak_allocated'] for rank in ranks)} bytes")
        if self.folder:
            versions = {"python": platform.python_version(), "torch": torch.__version__, "transformers": transformers.__version__@DEEPSPEED@}
            record = {"format": "shardlab-record", "version": 1, "scenario": SCENARIO, "device": @DEVICE@, "versions": versions,
                      "warmup": warmup, "losses": (losses / len(ranks)).tolist(), "ranks": ranks}
            (self.folder / "record.json").write_text(json.dumps(record, indent=1))
)py";

constexpr std::string_view k_memory_on_gpus =
    "        self.memory = {\"peak_allocated\": torch.cuda.max_memory_allocated(), \"peak_reserved\": "
    "torch.cuda.max_memory_reserved()}\n";

constexpr std::string_view k_after_on_processors = R"py(        with LiveBytes() as live:
            run(len(self.seconds) + self.PROFILED)
            live.peak = 0  # buckets are seen when they are first filled: the second step knows them
            run(len(self.seconds) + self.PROFILED + 1)
        self.memory = {"peak_allocated": live.peak}
)py";

constexpr std::string_view k_live_bytes = R"py(

class LiveBytes(TorchDispatchMode):
    """The most bytes that tensors had after any operation. Processors have no allocator that counts them."""

    def __init__(self):
        super().__init__()
        self.storages, self.peak = {}, 0
        self.note(each for each in gc.get_objects() if type(each) in (torch.Tensor, torch.nn.Parameter))

    def note(self, tensors):
        for tensor in tensors:
            storage = tensor.untyped_storage()
            self.storages[storage._cdata] = StorageWeakRef(storage)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        self.note(leaf for leaf in tree_leaves(made) if type(leaf) is torch.Tensor)
        self.storages = {key: reference for key, reference in self.storages.items() if not reference.expired()}
        alive = (torch.UntypedStorage._new_with_weak_ptr(reference.cdata) for reference in self.storages.values())
        self.peak = max(self.peak, sum(storage.nbytes() for storage in alive if storage is not None))
        return made
)py";

constexpr std::string_view k_before_on_gpus =
    "        if len(self.seconds) == WARMUP:\n            torch.cuda.reset_peak_memory_stats()\n";

constexpr std::string_view k_snapshot =
    "        torch.cuda.memory._dump_snapshot(str(self.folder / "
    "f\"rank{dist.get_rank()}.memory.pickle\"))\n        "
    "torch.cuda.memory._record_memory_history(enabled=None)\n";

// Three quotes would end the text, a backslash mean something in it.
std::string in_triple_quotes(const std::string& text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' || text.compare(i, 3, "\"\"\"") == 0) safe += '\\';
    safe += text[i];
  }
  return safe;
}

}  // namespace

std::string script_record(const ExportSubject& subject) {
  const bool on_gpus = !on_processors(subject);
  const auto on_the = [&](std::string_view gpus, std::string_view processors) {
    return std::string(on_gpus ? gpus : processors);
  };
  return filled(k_scenario, {{"SCENARIO", in_triple_quotes(subject.scenario_text)}}) +
         on_the("", k_live_bytes) +
         filled(k_record,
                {{"BEFORE", on_the(k_before_on_gpus, "")},
                 {"SYNCHRONIZE4", on_the("                    torch.cuda.synchronize()\n", "")},
                 {"SYNCHRONIZE", on_the("        torch.cuda.synchronize()\n", "")},
                 {"HISTORY",
                  on_the("        torch.cuda.memory._record_memory_history(max_entries=1000000)\n", "")},
                 {"WITH_MEMORY", on_the("profile_memory=True, ", "")},
                 {"AFTER", on_the(k_snapshot, k_after_on_processors)},
                 {"MEMORY", on_the(k_memory_on_gpus, "")},
                 {"DEEPSPEED", by_deepspeed(subject) ? ", \"deepspeed\": deepspeed.__version__" : ""},
                 {"DEVICE", on_the("torch.cuda.get_device_name()", "\"cpu\"")}});
}

}  // namespace shardlab
