#include "engine/report/job_memory_tables.h"

#include <utility>

#include <fmt/format.h>

#include "engine/base/with_spaces.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

std::string_view place_words(OverheadPlace place) {
  switch (place) {
    case OverheadPlace::allocator: return "in the allocator";
    case OverheadPlace::device: return "on the device";
    case OverheadPlace::host: return "of a node's host";
  }
  return "";
}

// Sums of what lies on the device, beside the allocator and within it.
std::string overheads_sum(const std::vector<MemoryOverhead>& overheads) {
  MemoryOverhead sum;
  Bytes within;
  for (const MemoryOverhead& each : overheads) {
    if (each.where == OverheadPlace::allocator) within += each.bytes;
    if (each.where != OverheadPlace::device) continue;
    sum.bytes += each.bytes;
    sum.low += each.low;
    sum.high += each.high;
  }
  return fmt::format("  on the device {} ({} to {}), in the allocator {}\n", to_string(sum.bytes),
                     to_string(sum.low), to_string(sum.high), to_string(within));
}

// What the job does not do must not look like a part of what `fits` was said about.
std::string phase_words(const PhaseMemory& phase) {
  return with_spaces(to_string(phase.phase)) + (phase.asked ? "" : " (not asked for)");
}

// Empty where only one figure is known.
std::string range_of(const MemoryOverhead& each) {
  if (each.low == each.high) return "";
  return fmt::format("{} to {}", to_string(each.low), to_string(each.high));
}

}  // namespace

std::string life_part(const RunSummary& run, const TextStyle& style) {
  if (!run.memory || run.memory->life.empty()) return "";
  TextTable table({{"over the life of the job", Align::left},
                   {"device"},
                   {"host of a node"},
                   {.title = "", .align = Align::left, .elastic = true, .least = 40, .drop = 1}},
                  "  ");
  for (const PhaseMemory& phase : run.memory->life) {
    const bool too_large = run.memory_limit && phase.device > *run.memory_limit;
    if (!phase.asked && !too_large) continue;
    std::string note = phase.formula;
    if (phase.asked && !phase.runs) note += " (predicted, not run yet)";
    table.add({phase_words(phase), to_string(phase.device), to_string(phase.host), std::move(note)});
  }
  return "\n" + table.text(style);
}

std::string overheads_part(const RunSummary& run, const TextStyle& style) {
  if (!run.memory || run.memory->overheads.empty()) return "";
  TextTable table({{"", Align::left},
                   {"", Align::right},
                   {"", Align::left},
                   {"", Align::left},
                   {.title = "", .align = Align::left, .elastic = true, .least = 40, .drop = 1}},
                  "  ");
  for (const MemoryOverhead& each : run.memory->overheads)
    table.add({each.name, to_string(each.bytes), std::string(place_words(each.where)), range_of(each),
               each.formula});
  return "\nmemory beside the tensors\n" + table.text(style) + overheads_sum(run.memory->overheads);
}

}  // namespace shardlab
