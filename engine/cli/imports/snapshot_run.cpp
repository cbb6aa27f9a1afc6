#include "engine/cli/imports/snapshot_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/base/input_file.h"
#include "engine/plan/imported_plan.h"
#include "engine/report/summarize.h"
#include "simulator/memory/replay/memory_levels.h"

namespace shardlab {
namespace {

constexpr FileKind k_first_bytes{"memory snapshot", 2};

// An instruction for each stretch of events: what the program ran meanwhile a snapshot does not say.
RunPlan plan_of(std::size_t stretches) {
  StepPlan nothing;
  nothing.strategy = "snapshot";
  nothing.graph_hash = std::string(k_imported_graph);
  nothing.passes = {"imported"};
  nothing.streams = {{"events"}};
  RunPlan plan{nothing, nothing, std::nullopt, nothing};
  plan.setup.phase = PlanPhase::setup;
  plan.first.phase = PlanPhase::first;
  Instruction stretch;
  stretch.kind = InstructionKind::Marker;
  stretch.stream = StreamId{0};
  plan.steady.instructions.assign(stretches, stretch);
  return plan;
}

StepTrace step_of(const std::vector<MemoryStretch>& stretches, const std::string& hash) {
  RankTrace rank;
  Nanoseconds begin;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const auto id = make_id<InstructionId>(i);
    const Nanoseconds end = std::max(begin, stretches[i].end);
    rank.spans.push_back({id, begin, begin, begin, end});
    MemorySample sample;
    sample.instruction = id;
    sample.live = stretches[i].last.allocated;
    sample.peak = stretches[i].highest.allocated;
    rank.memory.push_back(sample);
    begin = end;
  }
  rank.duration = begin;
  StepTrace step;
  step.plan_hash = hash;
  step.ranks = {std::move(rank)};
  return step;
}

Provenance provenance_of_snapshot(std::size_t events) {
  Provenance from;
  from.kind = RunKind::measured;
  from.versions["recorded by"] = "torch.cuda.memory";
  from.assumes = {
      fmt::format("allocated is what {} events of the history and what was alive at its end add up to, as "
                  "the program asked for it: blocks are rounded up beyond that",
                  events)};
  from.leaves_out = {"steps and their times: the history is one stretch of time", "tokens, losses, ranks",
                     "what ran when: neither exposed communication nor collectives are known",
                     "classes of memory"};
  return from;
}

// The history is no step of a training: it has neither a time of one nor communication.
void leave_unknown(const std::vector<MemoryStretch>& stretches, RunSummary& summary) {
  summary.ranks = 0;
  summary.step_time = {};
  summary.exposed_communication = k_unknown_time;
  summary.skipped_steps = -1;
  if (!summary.memory) return;
  Bytes active, reserved;
  for (const MemoryStretch& each : stretches) {
    active = std::max(active, each.highest.active);
    reserved = std::max(reserved, each.highest.reserved);
  }
  summary.memory->peak_active = active;
  if (reserved.value > 0) summary.memory->peak_reserved = reserved;  // else no event is about segments
  summary.memory->peak_rank = -1;
}

// Whatever is wrong is wrong with the file; a choice of devices has no option here.
Error within(Error error, const std::filesystem::path& file) {
  if (error.place.name == "--device") error.hint = "`shardlab replay --device N` looks at one of them";
  error.place = in_file(file.string());
  return error;
}

}  // namespace

bool is_memory_snapshot(const std::filesystem::path& file) {
  return read_beginning(file, k_first_bytes).value_or("").starts_with('\x80');
}

Result<RunRecord> run_of_snapshot(const std::filesystem::path& file) {
  SHARDLAB_TRY(PickleSource pickle, open_memory_history(file));
  const auto history = read_history_events(std::move(pickle), std::nullopt);
  if (!history) return fail(within(history.error(), file));
  const auto stretches = memory_stretches(*history, k_snapshot_stretches);
  if (!stretches) return fail(within(stretches.error(), file));
  RunRecord record;
  record.name = file.stem().string();
  record.tags = {"imported"};
  record.note = fmt::format("from {}: a memory snapshot", file.string());
  record.scenario_yaml = "# imported: there is no scenario\n";
  record.plan = plan_of(stretches->size());
  record.trace.provenance = provenance_of_snapshot(history->events.size());
  record.trace.steps = {step_of(*stretches, plan_hash(record.plan.steady))};
  SHARDLAB_TRY(record.summary, summarize_recorded(record.plan.steady, record.trace));
  leave_unknown(*stretches, record.summary);
  return record;
}

}  // namespace shardlab
