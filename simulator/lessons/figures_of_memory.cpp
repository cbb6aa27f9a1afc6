#include <algorithm>
#include <array>

#include "simulator/lessons/figure_list.h"

namespace shardlab::lessons {
namespace {

using Rest = const std::vector<Value>&;

Result<const MemorySummary*> memory_of(const FigureSubject& subject) {
  if (subject.summary->memory) return &*subject.summary->memory;
  return not_possible({}, "the run recorded no memory");
}

Result<Value> known_bytes(const std::optional<Bytes>& bytes) {
  if (bytes) return bytes_value(*bytes);
  return not_possible({}, "not known of processors", "ask it of a scenario on GPUs");
}

Result<Value> peak_of(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const MemorySummary* memory, memory_of(subject));
  Bytes sum;
  for (const Value& each : rest) {
    SHARDLAB_TRY(const BufferClass wanted, word_of<BufferClass>(each));
    sum += memory->by_class[static_cast<std::size_t>(wanted)];
  }
  return bytes_value(sum);
}

Result<Value> highest_in(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const MemorySummary* memory, memory_of(subject));
  SHARDLAB_TRY(const StepPhase phase, word_of<StepPhase>(rest[0]));
  return bytes_value(memory->phases[static_cast<std::size_t>(phase)]);
}

Result<Value> peak_elsewhere(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const MemorySummary* memory, memory_of(subject));
  SHARDLAB_TRY(const MemorySpace space, word_of<MemorySpace>(rest[0]));
  for (const SpaceMemory& each : memory->spaces) {
    if (each.space == space) return bytes_value(each.peak);
  }
  return bytes_value(Bytes{});
}

Result<Value> in_life(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const MemorySummary* memory, memory_of(subject));
  SHARDLAB_TRY(const LifePhase phase, word_of<LifePhase>(rest[0]));
  for (const PhaseMemory& each : memory->life) {
    if (each.phase == phase) return bytes_value(each.device);
  }
  return not_possible({}, "no prediction for GPUs with this phase");
}

Bytes carried_of(const StepPlan& plan, std::optional<BufferClass> wanted) {
  Bytes sum;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.carried && buffer.space == MemorySpace::device && (!wanted || buffer.buffer_class == *wanted))
      sum += buffer.bytes();
  }
  return sum;
}

Result<Value> carried(const FigureSubject& subject, Rest rest) {
  if (rest.empty()) return bytes_value(carried_of(subject.plan(), {}));
  Bytes sum;
  for (const Value& each : rest) {
    SHARDLAB_TRY(const BufferClass wanted, word_of<BufferClass>(each));
    sum += carried_of(subject.plan(), wanted);
  }
  return bytes_value(sum);
}

// The most bytes of one class that are alive after any instruction.
Result<Value> most_alive(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const BufferClass wanted, word_of<BufferClass>(rest[0]));
  const auto index = static_cast<std::size_t>(wanted);
  Bytes most;
  for (const MemorySample& sample : subject.rank().memory)
    most = std::max({most, sample.by_class[index], sample.by_class_at_peak[index]});
  return bytes_value(most);
}

// What stays of parameters, gradients and optimizer, where gradients live only within a step: the highest of
// their classes.
Result<Value> state_bytes(const FigureSubject& subject, Rest) {
  const StepPlan& plan = subject.plan();
  Bytes sum = carried_of(plan, BufferClass::parameter) + carried_of(plan, BufferClass::parameter_shard) +
              carried_of(plan, BufferClass::optimizer_state);
  for (const BufferClass each : {BufferClass::gradient, BufferClass::gradient_shard}) {
    Bytes most;
    for (const MemorySample& sample : subject.rank().memory)
      most = std::max(most, sample.by_class[static_cast<std::size_t>(each)]);
    sum += most;
  }
  return bytes_value(sum);
}

Result<Value> overheads(const FigureSubject& subject, Rest) {
  SHARDLAB_TRY(const MemorySummary* memory, memory_of(subject));
  Bytes sum;
  for (const MemoryOverhead& each : memory->overheads) {
    if (each.where != OverheadPlace::host) sum += each.bytes;
  }
  return bytes_value(sum);
}

Result<Value> teachers(const FigureSubject& subject, Bytes TeacherMemory::*member) {
  SHARDLAB_TRY(const MemorySummary* memory, memory_of(subject));
  if (!memory->teacher) return not_possible({}, "the scenario has no teacher");
  return bytes_value((*memory->teacher).*member);
}

constexpr std::array k_memory_figures = {
    FigureFunction{"peak_allocated", "a", 0, 0, "the highest sum of the bytes of live tensors within a step",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     SHARDLAB_TRY(const MemorySummary* memory, memory_of(subject));
                     return bytes_value(memory->peak_allocated);
                   }},
    FigureFunction{"peak_reserved", "a", 0, 0, "the most that the caching allocator takes from the device",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     SHARDLAB_TRY(const MemorySummary* memory, memory_of(subject));
                     return known_bytes(memory->peak_reserved);
                   }},
    FigureFunction{"peak_device", "a", 0, 0, "the most on the device, with what libraries take",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     SHARDLAB_TRY(const MemorySummary* memory, memory_of(subject));
                     return known_bytes(memory->peak_device);
                   }},
    FigureFunction{"overheads", "a", 0, 0, "what libraries take on the device beside the tensors", overheads},
    FigureFunction{"peak_of", "a, class, ...", 1, 14, "what of the peak belongs to these classes of buffer",
                   peak_of},
    FigureFunction{"highest_in", "a, phase", 1, 1, "the highest in `forward`, `backward` or `optimizer`",
                   highest_in},
    FigureFunction{"peak_elsewhere", "a, space", 1, 1, "the highest in `pinned_host`, `pageable_host` ...",
                   peak_elsewhere},
    FigureFunction{"in_life", "a, phase", 1, 1,
                   "live tensors in a phase of the job: `construct`, `shard`, `first_step`, `save_full` ...",
                   in_life},
    FigureFunction{"carried", "a, class, ...", 0, 14,
                   "what is alive between steps, of these classes or in all", carried},
    FigureFunction{"most_alive", "a, class", 1, 1, "the most bytes of a class at any moment", most_alive},
    FigureFunction{"state_bytes", "a", 0, 0,
                   "parameters and optimizer state between steps, and gradients where they are most",
                   state_bytes},
    FigureFunction{"teacher_parameters", "a", 0, 0,
                   "what the teacher's parameters take on a rank, at the peak",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return teachers(subject, &TeacherMemory::parameters);
                   }},
    FigureFunction{"teacher_logits", "a", 0, 0, "what of the teacher's logits is alive at the peak",
                   [](const FigureSubject& subject, Rest) -> Result<Value> {
                     return teachers(subject, &TeacherMemory::logits);
                   }},
};

}  // namespace

std::span<const FigureFunction> figures_of_memory() {
  return k_memory_figures;
}

}  // namespace shardlab::lessons
