#include "gui/view_model/memory/alive_lines.h"

#include <algorithm>

namespace shardlab::view {
namespace {

AliveLine line_of(const LoadedRun& run, const BufferLife& life) {
  const Buffer& buffer = run.plan().buffer(life.buffer);
  const auto words = [&](std::int64_t at) {
    return run.words().instruction(make_id<InstructionId>(static_cast<std::size_t>(at)));
  };
  const auto count = static_cast<std::int64_t>(run.plan().instructions.size());
  AliveLine line;
  line.alive.bytes = buffer.own_bytes();
  line.alive.what = to_words(run.words().buffer(life.buffer));
  line.alive.buffer_class = buffer.buffer_class;
  line.alive.space = buffer.space;
  line.alive.buffers = 1;
  line.alive.members = {life.buffer};
  line.alive.since_words = life.begin < 0 ? "before the step" : words(life.begin);
  if (life.begin >= 0) line.alive.since = make_id<InstructionId>(static_cast<std::size_t>(life.begin));
  line.name = buffer.name;
  line.until = life.end >= count ? "lives on" : words(life.end);
  return line;
}

// Whether the run's peak is a moment of its steady plan, of which the words are.
bool knows_peak(const LoadedRun& run) {
  const auto& memory = run.record.summary.memory;
  return memory && memory->by_class != BytesByClass{} &&
         memory->peak_instruction.index() < run.plan().instructions.size() &&
         memory->peak_label == instruction_label(run.plan(), memory->peak_instruction);
}

void add_passing_rows(const LoadedRun& run, std::vector<AliveLine>& lines) {
  for (AliveRow& row : alive_at_peak(run.plan(), *run.record.summary.memory))
    if (row.members.empty()) lines.push_back({std::move(row)});
}

}  // namespace

bool is_alive_at_peak(const LoadedRun& run, std::optional<InstructionId> id) {
  return knows_peak(run) && (!id || *id == run.record.summary.memory->peak_instruction);
}

std::vector<AliveLine> alive_lines(const LoadedRun& run, const std::vector<BufferLife>& lives,
                                   std::optional<InstructionId> id, AliveForm form) {
  std::vector<AliveLine> lines;
  const bool at_peak = is_alive_at_peak(run, id);
  if (!id) id = at_peak ? run.record.summary.memory->peak_instruction : InstructionId{0};
  if (id->index() >= run.plan().instructions.size()) return lines;
  if (form == AliveForm::single) {
    const auto at = static_cast<std::int64_t>(id->index());
    for (const BufferLife& life : lives) {
      // What the peak's instruction makes and gives back is in a row of its own, as none of it is sure to be
      // there at the highest moment.
      const bool on_device = run.plan().buffer(life.buffer).space == MemorySpace::device;
      const bool is_alive = at_peak && on_device ? life.begin < at && at < life.end : life.alive_after(at);
      if (is_alive) lines.push_back(line_of(run, life));
    }
    if (at_peak) add_passing_rows(run, lines);
  } else {
    if (at_peak)
      for (AliveRow& row : alive_at_peak(run.plan(), *run.record.summary.memory))
        lines.push_back({std::move(row)});
    for (AliveRow& row : alive_after(run.plan(), run.words(), *id))
      if (!at_peak || row.space != MemorySpace::device) lines.push_back({std::move(row)});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const AliveLine& a, const AliveLine& b) { return a.alive.bytes > b.alive.bytes; });
  return lines;
}

}  // namespace shardlab::view
