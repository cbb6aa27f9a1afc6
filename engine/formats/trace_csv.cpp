#include "engine/formats/trace_csv.h"

#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "engine/base/csv.h"

namespace shardlab {
namespace {

constexpr std::string_view k_header =
    "run,step,rank,instruction,kind,stream,unit,segment,micro_batch,bytes,issue_ns,ready_ns,start_ns,end_ns,"
    "skipped,"
    "live_bytes,peak_bytes\n";

// unit, segment and micro-batch, each empty when the instruction has none.
std::string belonging(const StepPlan& plan, const Instruction& instruction) {
  std::string text = instruction.unit ? csv_field(plan.units[instruction.unit->index()].name) : "";
  text += ',';
  if (instruction.segment) text += csv_field(plan.segments[instruction.segment->index()].name);
  text += ',';
  if (instruction.micro_batch) text += fmt::to_string(*instruction.micro_batch);
  return text;
}

void write_rank(std::string& text, std::string_view title, const TracedStep& step, const RankTrace& rank) {
  const StepPlan& plan = step.plan;
  std::vector<const MemorySample*> memory(plan.instructions.size(), nullptr);
  for (const MemorySample& sample : rank.memory) memory[sample.instruction.index()] = &sample;
  for (const Span& span : rank.spans) {
    const Instruction& instruction = plan.instruction(span.instruction);
    const MemorySample* sample = memory[span.instruction.index()];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{},{},{},{},", csv_field(title),
                   step.trace.step, rank.rank, span.instruction.value, to_string(instruction.kind),
                   csv_field(plan.streams[instruction.stream.index()].name), belonging(plan, instruction),
                   instruction.bytes.value, span.issue.value, span.ready.value, span.start.value,
                   span.end.value, span.skipped);
    if (sample != nullptr)
      fmt::format_to(std::back_inserter(text), "{},{}\n", sample->live.value, sample->peak.value);
    else
      text += ",\n";
  }
}

}  // namespace

std::string trace_csv(std::span<const TracedRun> runs) {
  std::string text(k_header);
  for (const TracedRun& run : runs) {
    for (const TracedStep& step : run.steps) {
      for (const RankTrace& rank : step.trace.ranks) write_rank(text, run.title, step, rank);
    }
  }
  return text;
}

}  // namespace shardlab
