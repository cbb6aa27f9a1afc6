#include "engine/formats/profiler/seen_marks.h"

#include <algorithm>
#include <charconv>

#include "engine/formats/profiler/step_windows.h"
#include "engine/formats/profiler/work_names.h"

namespace shardlab {
namespace {

constexpr std::string_view k_module = "nn.Module: ", k_of_deepspeed = "deepspeed/runtime/";
constexpr std::string_view k_zero_3 = "zero/stage3.py", k_zero_1_or_2 = "zero/stage_1_and_2.py";
constexpr std::string_view k_fsdp2_prefix = "FSDP";  // of a wrapped module's class
constexpr int k_most_modules = 1 << 20;              // of one class

bool begins_with(std::string_view name, std::string_view mark) {
  return name == mark || (name.starts_with(mark) && name.substr(mark.size()).starts_with(" ("));
}

class MarkReader {
 public:
  MarkReader(const ProfilerTrace& trace, const StepWindow& window) : trace_(trace), window_(window) {}

  SeenMarks read() {
    for (const ProfilerEvent& event : trace_.events) {
      if (event.start < window_.begin || event.start >= window_.end) continue;
      const std::string& name = trace_.names[event.name];
      if (event.category == ProfilerCategory::annotation) add_mark(name);
      if (is_on_device(event.category) || is_gloo(name)) add_collective(event, name);
    }
    for (const std::string& function : trace_.functions) add_function(function);
    return std::move(marks_);
  }

 private:
  void add_mark(std::string_view name) {
    if (begins_with(name, "FSDP::pre_forward")) ++unit(name).forwards;
    if (begins_with(name, "FSDP::all_gather")) ++unit(name).gathers;
    if (begins_with(name, "FSDP::post_backward_reduce")) ++unit(name).reductions;
    if (name == "FullyShardedDataParallel.forward") ++marks_.fsdp1_forwards;
    if (name == "FullyShardedDataParallel._to_kwargs") ++marks_.fsdp1_steps;  // the root's alone
    if (name == "DistributedDataParallel.forward") ++marks_.ddp_forwards;
    if (name == "DeepSpeedEngine.forward") ++marks_.deepspeed_forwards;
    if (name.starts_with("DeepSpeedEngine.")) marks_.deepspeed = true;
    constexpr std::string_view k_optimizer = "Optimizer.step#";
    if (name.starts_with(k_optimizer))
      marks_.optimizer = name.substr(k_optimizer.size(), name.rfind('.') - k_optimizer.size());
  }

  SeenUnit& unit(std::string_view mark) {
    const std::string module = module_of_mark(mark).value_or("root");
    const auto found = std::find_if(marks_.units.begin(), marks_.units.end(),
                                    [&](const SeenUnit& each) { return each.module == module; });
    return found != marks_.units.end() ? *found : marks_.units.emplace_back(SeenUnit{module});
  }

  void add_collective(const ProfilerEvent& event, const std::string& name) {
    const auto kind = collective_kind(name);
    if (!kind || !event.collective) return;
    const bool one_group = trace_.process_groups == 1;
    const ProfilerCollective its =
        completed(trace_.collectives[*event.collective], one_group ? trace_.world_size : std::nullopt);
    const int group = static_cast<int>(std::clamp<std::int64_t>(its.group_size, 0, 1 << 20));
    auto found = std::find_if(
        marks_.collectives.begin(), marks_.collectives.end(), [&](const ProfiledCollectives& each) {
          return each.kind == *kind && each.dtype == its.dtype && each.group_size == group;
        });
    if (found == marks_.collectives.end())
      found = marks_.collectives.insert(marks_.collectives.end(), {*kind, its.dtype, group});
    ++found->count;
    found->elements += std::max(its.elements_in, its.elements_out);
  }

  // "nn.Module: FSDPLlamaDecoderLayer_5": modules of a class are counted from 0.
  void add_function(std::string_view name) {
    if (!name.starts_with(k_module)) {
      marks_.deepspeed = true;
      marks_.zero_3 = marks_.zero_3 || name.find(k_zero_3) != std::string_view::npos;
      marks_.zero_1_or_2 = marks_.zero_1_or_2 || name.find(k_zero_1_or_2) != std::string_view::npos;
      return;
    }
    name.remove_prefix(k_module.size());
    const std::size_t dash = name.rfind('_');
    if (dash == std::string_view::npos) return;
    const std::string_view digits = name.substr(dash + 1);
    int number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    number = std::clamp(number, 0, k_most_modules);
    name = name.substr(0, dash);
    if (!marks_.units.empty() && name.starts_with(k_fsdp2_prefix)) name.remove_prefix(k_fsdp2_prefix.size());
    int& count = marks_.classes[std::string(name)];
    count = std::max(count, number + 1);
  }

  const ProfilerTrace& trace_;
  const StepWindow& window_;
  SeenMarks marks_;
};

}  // namespace

const ProfiledCollectives* SeenMarks::most_of(InstructionKind kind) const {
  const ProfiledCollectives* most = nullptr;
  for (const ProfiledCollectives& each : collectives)
    if (each.kind == kind && (most == nullptr || each.elements > most->elements)) most = &each;
  return most;
}

int SeenMarks::count_of(InstructionKind kind) const {
  int count = 0;
  for (const ProfiledCollectives& each : collectives)
    if (each.kind == kind) count += each.count;
  return count;
}

SeenMarks seen_marks(const ProfilerTrace& trace) {
  const std::vector<StepWindow> windows = step_windows(trace);
  return windows.empty() ? SeenMarks() : MarkReader(trace, windows.back()).read();
}

bool says_who_trains(std::string_view function) {
  return function.starts_with(k_module) || function.find(k_of_deepspeed) != std::string_view::npos;
}

}  // namespace shardlab
