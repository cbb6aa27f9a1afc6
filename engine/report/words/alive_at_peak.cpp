#include "engine/report/words/alive_at_peak.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/base/with_spaces.h"
#include "engine/report/figures.h"
#include "engine/report/text_table.h"
#include "engine/report/words/plan_words.h"

namespace shardlab {
namespace {

// Since which instruction a buffer is alive; -1: before the step.
struct Alive {
  BufferId buffer;
  std::int64_t since = -1;
};

// What an instruction gives back is there while it runs, what it makes only after it.
enum class When { throughout, after };

std::vector<Alive> alive(const StepPlan& plan, InstructionId at, When when) {
  std::vector<std::optional<std::int64_t>> since(plan.buffers.size());
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].carried) since[i] = -1;
  for (std::size_t i = 0; i <= at.index(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    if (i < at.index() || when == When::after)
      for (const BufferId id : instruction.allocates) since[id.index()] = static_cast<std::int64_t>(i);
    for (const BufferId id : instruction.frees) since[id.index()].reset();
  }
  std::vector<Alive> found;
  for (std::size_t i = 0; i < since.size(); ++i)
    if (since[i] && plan.buffers[i].own_bytes().value > 0) found.push_back({make_id<BufferId>(i), *since[i]});
  return found;
}

// Alike buffers: the same words but for the layer, its parts and the micro-batch.
struct AlikeBuffers {
  BufferPhrase phrase;  // of the first
  BufferClass buffer_class = BufferClass::workspace;
  MemorySpace space = MemorySpace::device;
  Bytes bytes;
  std::vector<BufferId> members;
  std::set<int> layers;
  std::set<std::string> places, batches;
  std::int64_t first = -1, last = -1;  // that made them
};

bool alike(const AlikeBuffers& group, const BufferPhrase& phrase, const Buffer& buffer) {
  if (group.buffer_class != buffer.buffer_class || group.space != buffer.space) return false;
  if (group.phrase.what != phrase.what) return false;
  if (group.phrase.place.has_value() != phrase.place.has_value()) return false;
  if (!phrase.place) return true;
  const ModelPlace &a = *group.phrase.place, &b = *phrase.place;
  return a.teachers == b.teachers && a.layer.has_value() == b.layer.has_value() && a.rest == b.rest;
}

void add(AlikeBuffers& group, const StepPlan& plan, const Alive& alive, const BufferPhrase& phrase) {
  group.bytes += plan.buffer(alive.buffer).own_bytes();
  group.first = group.members.empty() ? alive.since : std::min(group.first, alive.since);
  group.last = std::max(group.last, alive.since);
  group.members.push_back(alive.buffer);
  group.batches.insert(phrase.batch);
  if (!phrase.place) return;
  group.places.insert(to_words(*phrase.place));
  if (phrase.place->layer) group.layers.insert(*phrase.place->layer);
}

std::string what_of(const AlikeBuffers& group) {
  BufferPhrase phrase = group.phrase;
  const bool one_batch = group.batches.size() == 1;
  if (!one_batch) phrase.batch = fmt::format("{} micro-batches", group.batches.size());
  if (!phrase.place || group.places.size() == 1) return to_words(phrase);
  const std::string of = to_words(*phrase.place, static_cast<int>(group.layers.size()));
  phrase.what += (phrase.what == "output" ? "s of " : " of ") + of;
  phrase.place.reset();
  return to_words(phrase);
}

std::string since_of(const AlikeBuffers& group, const PlanWords& words) {
  const auto said = [&](std::int64_t at) {
    return at < 0 ? std::string("before the step")
                  : words.instruction(make_id<InstructionId>(static_cast<std::size_t>(at)));
  };
  return group.first == group.last ? said(group.first) : said(group.first) + " to " + said(group.last);
}

std::vector<AlikeBuffers> groups_of(const StepPlan& plan, const PlanWords& words,
                                    const std::vector<Alive>& alive) {
  std::vector<AlikeBuffers> groups;
  for (const Alive& each : alive) {
    const BufferPhrase phrase = words.buffer(each.buffer);
    const Buffer& buffer = plan.buffer(each.buffer);
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const AlikeBuffers& group) { return alike(group, phrase, buffer); });
    if (found == groups.end()) {
      groups.push_back({phrase, buffer.buffer_class, buffer.space, {}, {}, {}, {}, {}, -1, -1});
      found = groups.end() - 1;
    }
    add(*found, plan, each, phrase);
  }
  return groups;
}

AliveRow row_of(const AlikeBuffers& group, const PlanWords& words) {
  AliveRow row{group.bytes, what_of(group),         group.buffer_class, std::ssize(group.members),
               {},          since_of(group, words), group.members,      group.space};
  if (group.first >= 0) row.since = make_id<InstructionId>(static_cast<std::size_t>(group.first));
  return row;
}

void sort(std::vector<AliveRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const AliveRow& a, const AliveRow& b) { return a.bytes > b.bytes; });
}

std::string class_words(BufferClass its) {
  return with_spaces(to_string(its));
}

std::string within_words(BufferClass its) {
  return its == BufferClass::workspace ? "temporaries" : class_words(its) + " being made or given back";
}

}  // namespace

std::vector<AliveRow> alive_at_peak(const StepPlan& plan, const MemorySummary& memory) {
  if (memory.peak_instruction.index() >= plan.instructions.size()) return {};
  const PlanWords words(plan);
  BytesByClass rest = memory.by_class;
  std::vector<AliveRow> rows;
  std::vector<Alive> throughout = alive(plan, memory.peak_instruction, When::throughout);
  std::erase_if(throughout,
                [&](const Alive& each) { return plan.buffer(each.buffer).space != MemorySpace::device; });
  for (const AlikeBuffers& group : groups_of(plan, words, throughout)) {
    rest[static_cast<std::size_t>(group.buffer_class)] -= group.bytes;
    rows.push_back(row_of(group, words));
  }
  const std::string self = words.instruction(memory.peak_instruction);
  for (std::size_t i = 0; i < k_buffer_classes; ++i) {
    if (rest[i].value == 0) continue;
    const auto its = static_cast<BufferClass>(i);
    rows.push_back({rest[i], within_words(its), its, 0, memory.peak_instruction, self});
  }
  sort(rows);
  return rows;
}

std::vector<AliveRow> alive_after(const StepPlan& plan, const PlanWords& words, InstructionId id) {
  std::vector<AliveRow> rows;
  for (const AlikeBuffers& group : groups_of(plan, words, alive(plan, id, When::after)))
    rows.push_back(row_of(group, words));
  sort(rows);
  return rows;
}

std::string alive_table(const StepPlan& plan, const MemorySummary& memory, const TextStyle& style) {
  const std::vector<AliveRow> rows = alive_at_peak(plan, memory);
  if (rows.empty()) return "";
  TextTable table({{"bytes"},
                   {"what", Align::left, true, 46},
                   {"class", Align::left, false, 8, 1},
                   {"since", Align::left, true, 18, 2}},
                  "  ");
  for (const AliveRow& row : rows) {
    table.add({to_string(row.bytes), row.what, class_words(row.buffer_class), row.since_words});
  }
  table.add({to_string(memory.peak_allocated), "all of it"});
  return fmt::format("alive at the peak: rank {}, in {} ({})\n", memory.peak_rank,
                     PlanWords(plan).instruction(memory.peak_instruction), memory.peak_label) +
         table.text(style);
}

}  // namespace shardlab
