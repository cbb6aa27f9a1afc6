#include "gui/view_model/plan_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "engine/base/lower_case.h"
#include "engine/report/words/plan_words.h"

namespace shardlab::view {
namespace {

std::string buffer_names(const StepPlan& plan, const Instruction& instruction) {
  std::string names;
  for (const auto* const list : {&instruction.reads, &instruction.writes, &instruction.frees})
    for (const BufferId id : *list) names += plan.buffer(id).name + " ";
  return names;
}

// Its number has a column of its own.
std::string name_of(const StepPlan& plan, InstructionId id) {
  const std::string label = instruction_label(plan, id);
  return label.substr(label.find(' ') + 1);
}

std::string module_of(const StepPlan& plan, const Instruction& instruction) {
  return instruction.unit ? plan.units[instruction.unit->index()].module_path : std::string();
}

enum PlanColumn : std::size_t { number, does, instruction, stream, module, bytes, live_after };

std::vector<Column> plan_columns() {
  const std::string plan = "the plan";
  return {
      {"#", "", true, {"the position in the order in which the host issues instructions, from 0", plan}},
      {"what it does", "", false},
      {"instruction", "", false},
      {"stream", "", false},
      {"module", "", false},
      {"bytes",
       "bytes",
       true,
       {"of a collective its full side, of a copy what it writes",
        plan,
        {"parallel.strategy", "parallel.wrap", "precision"}}},
      {"live after",
       "bytes",
       true,
       {"the bytes of the plan's buffers that are alive after it: those before it, what it allocates, less "
        "what it frees",
        plan,
        {"parallel.strategy", "train.micro_batch"}}}};
}

WhyPart part_of(const Buffer& buffer, std::string_view what, double sign) {
  return {fmt::format("{} {}", what, buffer.name),
          to_string(buffer.bytes()),
          {},
          sign * static_cast<double>(buffer.bytes().value)};
}

void explain_live(const StepPlan& plan, const Instruction& self, Bytes before, Why& why) {
  why.arithmetic = Arithmetic::sum;
  why.parts.push_back({"before it", to_string(before), {}, static_cast<double>(before.value)});
  for (const BufferId id : self.allocates) why.parts.push_back(part_of(plan.buffer(id), "allocates", 1));
  for (const BufferId id : self.frees) why.parts.push_back(part_of(plan.buffer(id), "frees", -1));
}

// The side of a collective that holds the whole: what a gather writes, what a reduction reads.
void explain_bytes(const StepPlan& plan, const Instruction& self, Why& why) {
  const bool reads = self.kind == InstructionKind::ReduceScatter || self.kind == InstructionKind::AllReduce ||
                     self.kind == InstructionKind::Reduce;
  Bytes sum;
  for (const BufferId id : reads ? self.reads : self.writes) {
    why.parts.push_back(part_of(plan.buffer(id), reads ? "reads" : "writes", 1));
    sum += plan.buffer(id).bytes();
  }
  // A collective may take a part of a buffer, or write where its input lies: then the parts are only told.
  if (sum == self.bytes) {
    why.arithmetic = Arithmetic::sum;
    return;
  }
  for (WhyPart& part : why.parts) part.number.reset();
}

Row row_of(const StepPlan& plan, const PlanWords& words, InstructionId id, Bytes live) {
  const Instruction& self = plan.instruction(id);
  Row row;
  row.instruction = id;
  row.cells = {{std::to_string(id.value), static_cast<double>(id.value)},
               text_cell(words.instruction(id)),
               text_cell(name_of(plan, id), CellTone::faint),
               text_cell(plan.streams[self.stream.index()].name, CellTone::faint),
               text_cell(module_of(plan, self), CellTone::faint),
               self.bytes.value > 0 ? bytes_cell(self.bytes) : text_cell(""),
               bytes_cell(live)};
  return row;
}

}  // namespace

DataTable plan_table(std::shared_ptr<const StepPlan> plan) {
  DataTable table{"plan", plan_columns(), {}};
  const PlanWords words(*plan);
  const std::vector<Bytes> live = live_bytes_after(*plan);
  table.rows.reserve(live.size());
  for (std::size_t i = 0; i < live.size(); ++i)
    table.rows.push_back(row_of(*plan, words, make_id<InstructionId>(i), live[i]));
  table.explain = [plan = std::move(plan)](const DataTable& its, std::size_t row, std::size_t column,
                                           Why& why) {
    const Instruction& self = plan->instructions[row];
    why.title = fmt::format("{} of {}", its.columns[column].title,
                            instruction_label(*plan, make_id<InstructionId>(row)));
    if (column == bytes && self.bytes.value > 0) explain_bytes(*plan, self, why);
    if (column != live_after) return;
    const Bytes before = row == 0
                             ? carried_bytes(*plan)
                             : Bytes{static_cast<std::int64_t>(*its.rows[row - 1].cells[live_after].number)};
    explain_live(*plan, self, before, why);
  };
  return table;
}

std::vector<std::string> search_texts(const StepPlan& plan) {
  const PlanWords words(plan);
  std::vector<std::string> texts;
  texts.reserve(plan.instructions.size());
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& self = plan.instructions[i];
    const auto id = make_id<InstructionId>(i);
    texts.push_back(in_lower_case(fmt::format("{} {} {} {} {}", instruction_label(plan, id),
                                              words.instruction(id), plan.streams[self.stream.index()].name,
                                              module_of(plan, self), buffer_names(plan, self))));
  }
  return texts;
}

namespace {

bool is_number(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// What is counted keeps its number: "layer 3" is one thing, and no part of "layer 30".
std::vector<std::string> phrases_of(const std::string& query) {
  std::vector<std::string> phrases;
  std::istringstream stream(in_lower_case(query));
  for (std::string word; stream >> word;) {
    const bool counted = !phrases.empty() && (phrases.back() == "layer" || phrases.back() == "micro-batch");
    if (counted && is_number(word)) {
      phrases.back() += " " + word;
    } else {
      phrases.push_back(word);
    }
  }
  return phrases;
}

bool contains(const std::string& text, const std::string& phrase) {
  const bool counted = phrase.find(' ') != std::string::npos;
  for (std::size_t at = text.find(phrase); at != std::string::npos; at = text.find(phrase, at + 1)) {
    const std::size_t end = at + phrase.size();
    if (!counted || end == text.size() || !is_number(text.substr(end, 1))) return true;
  }
  return false;
}

}  // namespace

std::vector<std::uint32_t> matching_instructions(const StepPlan& plan, const std::vector<std::string>& texts,
                                                 const PlanFilter& filter) {
  const std::vector<std::string> phrases = phrases_of(filter.query);
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (filter.pass && plan.instructions[i].pass != *filter.pass) continue;
    const auto contained = [&](const std::string& phrase) { return contains(texts[i], phrase); };
    if (std::all_of(phrases.begin(), phrases.end(), contained))
      found.push_back(static_cast<std::uint32_t>(i));
  }
  return found;
}

}  // namespace shardlab::view
