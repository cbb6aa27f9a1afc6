#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "engine/pictures/memory_picture.h"
#include "engine/report/figures.h"
#include "engine/report/text_table.h"
#include "engine/report/words/plan_words.h"
#include "simulator/lessons/draw_look.h"

namespace shardlab::lessons {
namespace {

// A row of the comparison: what it is called, and its figure of one run; empty where it has none.
struct ComparedRow {
  std::string_view name;
  std::string (*figure)(const RunSummary& run);
};

std::string shown_bytes(const std::optional<Bytes>& bytes) {
  return bytes && bytes->value > 0 ? to_string(*bytes) : "";
}

Bytes at_peak(const RunSummary& run, MemoryGroup group) {
  Bytes sum;
  for (std::size_t i = 0; run.memory && i < run.memory->by_class.size(); ++i) {
    if (group_of(static_cast<BufferClass>(i)) == group) sum += run.memory->by_class[i];
  }
  return sum;
}

Bytes sent_by_all(const RunSummary& run) {
  Bytes sum;
  for (const CommunicationTotal& each : run.communication) sum += each.sent;
  return sum;
}

constexpr std::array k_rows = {
    ComparedRow{"step time", [](const RunSummary& run) { return to_string(run.step_time.median); }},
    ComparedRow{"exposed communication",
                [](const RunSummary& run) { return to_string(run.exposed_communication); }},
    ComparedRow{"tokens per second",
                [](const RunSummary& run) { return grouped(std::llround(run.tokens_per_second)); }},
    ComparedRow{"all ranks send", [](const RunSummary& run) { return shown_bytes(sent_by_all(run)); }},
    ComparedRow{
        "peak of live tensors",
        [](const RunSummary& run) { return run.memory ? to_string(run.memory->peak_allocated) : ""; }},
    ComparedRow{"  parameters",
                [](const RunSummary& run) { return shown_bytes(at_peak(run, MemoryGroup::parameters)); }},
    ComparedRow{"  optimizer state",
                [](const RunSummary& run) { return shown_bytes(at_peak(run, MemoryGroup::optimizer)); }},
    ComparedRow{"  gradients",
                [](const RunSummary& run) { return shown_bytes(at_peak(run, MemoryGroup::gradients)); }},
    ComparedRow{"  gathered",
                [](const RunSummary& run) { return shown_bytes(at_peak(run, MemoryGroup::gathered)); }},
    ComparedRow{"  activations",
                [](const RunSummary& run) { return shown_bytes(at_peak(run, MemoryGroup::activations)); }},
    ComparedRow{"  other",
                [](const RunSummary& run) { return shown_bytes(at_peak(run, MemoryGroup::other)); }},
    ComparedRow{
        "peak reserved",
        [](const RunSummary& run) { return run.memory ? shown_bytes(run.memory->peak_reserved) : ""; }},
    ComparedRow{"peak on the device",
                [](const RunSummary& run) { return run.memory ? shown_bytes(run.memory->peak_device) : ""; }},
    ComparedRow{"limit of a rank", [](const RunSummary& run) { return shown_bytes(run.memory_limit); }},
    ComparedRow{"fits",
                [](const RunSummary& run) { return run.fits ? std::string(to_string(*run.fits)) : ""; }},
};

// The figures of several runs. Where they are more than a line holds, they go on below: none is cut.
class ComparedColumns {
 public:
  explicit ComparedColumns(const std::vector<NamedSubject>& subjects) : subjects_(subjects) {
    for (const ComparedRow& row : k_rows) {
      std::vector<std::string> figures;
      for (const NamedSubject& each : subjects) figures.push_back(row.figure(each.subject->summary));
      if (std::any_of(figures.begin(), figures.end(), [](const std::string& each) { return !each.empty(); }))
        rows_.push_back({std::string(row.name), std::move(figures)});
    }
  }

  // The width of a line with the names and the runs from `begin` up to `end`.
  std::size_t width(std::size_t begin, std::size_t end) const {
    std::size_t names = 0;
    for (const Row& row : rows_) names = std::max(names, row.name.size());
    std::size_t width = k_indent.size() + names;
    for (std::size_t i = begin; i < end; ++i) {
      std::size_t widest = subjects_[i].name.size();
      for (const Row& row : rows_) widest = std::max(widest, row.figures[i].size());
      width += k_gap + widest;
    }
    return width;
  }

  TextTable table(std::size_t begin, std::size_t end) const {
    std::vector<TableColumn> columns = {{"", Align::left}};
    for (std::size_t i = begin; i < end; ++i) columns.push_back({subjects_[i].name});
    TextTable table(columns, std::string(k_indent));
    for (const Row& row : rows_) {
      std::vector<TableCell> cells = {row.name};
      for (std::size_t i = begin; i < end; ++i)
        cells.push_back(row.figures[i].empty() ? "-" : row.figures[i]);
      table.add(std::move(cells));
    }
    return table;
  }

 private:
  struct Row {
    std::string name;
    std::vector<std::string> figures;  // by run
  };
  static constexpr std::string_view k_indent = "  ";
  static constexpr std::size_t k_gap = 2;  // between the columns of a table

  const std::vector<NamedSubject>& subjects_;
  std::vector<Row> rows_;
};

}  // namespace

std::string compared_text(const std::vector<NamedSubject>& subjects, const TextStyle& style) {
  const ComparedColumns columns(subjects);
  std::string text;
  std::size_t begin = 0;
  while (begin < subjects.size()) {
    std::size_t end = begin + 1;
    while (end < subjects.size() && columns.width(begin, end + 1) <= static_cast<std::size_t>(style.width))
      ++end;
    text += (begin == 0 ? "" : "\n") + columns.table(begin, end).text(style);
    begin = end;
  }
  return text;
}

std::string plan_text(const FoundLook& found, const TextStyle& style) {
  constexpr std::size_t k_around = 4;
  const StepPlan& plan = *found.plan;
  const std::size_t last = plan.instructions.size() - 1;
  const std::size_t middle = found.chosen ? found.chosen->index() : 0;
  const std::size_t begin = found.from ? found.from->index() : middle > k_around ? middle - k_around : 0;
  const std::size_t end = found.to ? std::max(found.to->index(), begin) : std::min(middle + k_around, last);
  const PlanWords words(plan);
  TextTable table({{"", Align::left}, {"", Align::left}, {"", Align::left, true, 16, 1}, {"", Align::right}},
                  "  ");
  for (std::size_t i = begin; i <= end; ++i) {
    const auto id = make_id<InstructionId>(i);
    const Bytes bytes = plan.instruction(id).bytes;
    table.add({found.chosen == id ? ">" : " ", instruction_label(plan, id), words.instruction(id),
               bytes.value > 0 ? to_string(bytes) : ""});
  }
  return table.text(style);
}

std::string fit_text(const FoundLook& found, const TextStyle& style) {
  const RunSummary& run = found.subject->summary;
  if (!run.memory) return "  no memory was predicted\n";
  const Bytes whole = std::max(run.memory_limit.value_or(Bytes{}), run.memory->peak_allocated);
  TextTable table({{"at the peak", Align::left}, {"bytes"}, {"", Align::left}}, "  ");
  for (std::size_t g = 0; g < k_memory_groups; ++g) {
    const auto group = static_cast<MemoryGroup>(g);
    const Bytes bytes = at_peak(run, group);
    const auto wide =
        static_cast<std::size_t>(40.0 * static_cast<double>(bytes.value) / static_cast<double>(whole.value));
    if (bytes.value > 0)
      table.add({std::string(to_string(group)), to_string(bytes), std::string(wide, letter_of(group))});
  }
  table.add({"live tensors", to_string(run.memory->peak_allocated)});
  if (run.memory->peak_reserved)
    table.add({"reserved by the allocator", to_string(*run.memory->peak_reserved)});
  if (run.memory->peak_device) table.add({"in use on the device", to_string(*run.memory->peak_device)});
  if (run.memory_limit) table.add({"limit of a rank", to_string(*run.memory_limit)});
  std::string text = table.text(style);
  if (run.fits)
    text += fmt::format("  fits: {}{}\n", to_string(*run.fits), run.fit_reason ? ", " + *run.fit_reason : "");
  return text;
}

}  // namespace shardlab::lessons
