#include <fmt/format.h>

#include "engine/base/with_spaces.h"
#include "engine/model/operators/operator_type.h"
#include "engine/report/figures.h"
#include "engine/report/fit_notes.h"
#include "engine/report/job_memory_tables.h"
#include "engine/report/tables.h"
#include "engine/report/text_table.h"
#include "engine/report/words/plan_words.h"
#include "engine/trace/known_classes.h"

namespace shardlab {
namespace {

std::string peak_words(MemorySpace space) {
  if (space == MemorySpace::disk) return "peak on the drive";
  if (space == MemorySpace::managed) return "peak in managed memory";
  return space == MemorySpace::pinned_host ? "peak in pinned memory" : "peak in host memory";
}

constexpr int k_loss_curve_width = 16;

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string spread(const StepTimeSummary& time) {
  if (time.n == 0) return "";
  if (time.n <= 1) return "1 step";
  return fmt::format("{} to {}, {} steps", to_string(time.min), to_string(time.max), time.n);
}

Tone tone_of(Fit fit) {
  return fit == Fit::yes ? Tone::good : fit == Fit::unsure ? Tone::fair : Tone::bad;
}

std::string whose_operators(const RunSummary& run) {
  if (*run.implementation != Implementation::eager) return "shardlab's own";
  if (!run.compiled) return "as PyTorch's and transformers' modules";
  return *run.compiled == CompileScope::blocks ? "PyTorch's modules, every layer compiled"
                                               : "PyTorch's modules, compiled as a whole";
}

// "backward of layer 5"; empty where no plan tells.
std::string peak_words(const RunSummary& run, const StepPlan* plan) {
  const InstructionId peak = run.memory->peak_instruction;
  if (plan == nullptr || peak.index() >= plan->instructions.size()) return "";
  return PlanWords(*plan).instruction(peak);
}

// When it is: in words, and below them its name in the plan.
void add_peak(TextTable& table, const RunSummary& run, const StepPlan* plan) {
  const std::string &label = run.memory->peak_label, words = peak_words(run, plan);
  const std::string rank = run.memory->peak_rank < 0 ? "" : fmt::format("rank {}, ", run.memory->peak_rank);
  const std::string in_plan = label.empty() ? "" : rank + "in " + label;
  table.add(
      {"peak allocated", to_string(run.memory->peak_allocated), words.empty() ? in_plan : "in " + words});
  if (!words.empty()) table.add({"", "", in_plan});
}

void add_fit(TextTable& table, const RunSummary& run) {
  const std::vector<std::string> notes = fit_notes(run);
  table.add({"fits", {std::string(to_string(*run.fits)), tone_of(*run.fits)}, notes.front()});
  for (std::size_t i = 1; i < notes.size(); ++i) table.add({"", "", notes[i]});
}

void add_memory(TextTable& table, const RunSummary& run, const StepPlan* at_peak) {
  if (!run.memory) return;
  if (run.memory->peak_allocated.value > 0) add_peak(table, run, at_peak);
  if (run.memory->peak_reserved) {
    const auto& active = run.memory->peak_active;
    table.add({"peak reserved", to_string(*run.memory->peak_reserved),
               active ? "by the allocator; active " + to_string(*active) : "by the allocator"});
    if (const std::int64_t retries = run.memory->allocator_retries.value_or(0); retries > 0)
      table.add({"", "", fmt::format("{} after giving memory back", counted(retries, "allocation"))});
  }
  if (run.memory->peak_device)
    table.add({"peak on the device", to_string(*run.memory->peak_device),
               "with what libraries take for themselves"});
  for (const SpaceMemory& space : run.memory->spaces) {
    if (space.space == MemorySpace::device) continue;
    table.add({peak_words(space.space), to_string(space.peak),
               fmt::format("of a rank; {} between steps", to_string(space.between))});
  }
  if (run.fits) add_fit(table, run);
}

// How long it took: a log may tell a loss of every tenth step, or not which steps they are of.
std::string span_of_losses(const RunSummary& run, std::size_t values) {
  if (run.steps_per_loss == 1) return fmt::format("{} steps", values);
  if (run.steps_per_loss <= 0) return fmt::format("{} lines", values);
  return fmt::format("{} lines, {} steps apart", values, run.steps_per_loss);
}

void add_loss(TextTable& table, const char* title, const RunSummary& run, const std::vector<double>& values) {
  if (values.empty()) return;
  table.add({title, fmt::format("{:.4f}", values.back()),
             fmt::format("from {:.4f} in {}  {}", values.front(), span_of_losses(run, values.size()),
                         sparkline(values, k_loss_curve_width))});
}

void add_rates(TextTable& table, const RunSummary& run) {
  const std::string a_rank =
      run.tokens_per_second_per_gpu > 0 ? rate(run.tokens_per_second_per_gpu) + " a rank" : "";
  if (run.tokens_per_second > 0)
    table.add({"tokens per second", rate(run.tokens_per_second), run.ranks > 1 ? a_rank : ""});
  else if (!a_rank.empty())
    table.add({"tokens per second", rate(run.tokens_per_second_per_gpu), "of a rank"});
}

void add_exposed(TextTable& table, const RunSummary& run) {
  if (run.exposed_communication.value < 0) return;
  table.add({"exposed communication", to_string(run.exposed_communication),
             fmt::format("{} of the step",
                         percent(share_of(run.exposed_communication.value, run.step_time.median.value)))});
}

TextTable figures_table(const RunSummary& run, const StepPlan* at_peak) {
  TextTable table({{"", Align::left}, {"", Align::right}, {"", Align::left, true}}, "  ");
  if (run.ended_by) {
    add_memory(table, run, at_peak);
    return table;
  }
  table.add({"step time", run.step_time.n > 0 ? to_string(run.step_time.median) : "unknown",
             spread(run.step_time)});
  add_rates(table, run);
  if (run.implementation)
    table.add({"operators", std::string(to_string(*run.implementation)), whose_operators(run)});
  if (run.mfu) table.add({"MFU", percent(*run.mfu), "causal attention counted half"});
  if (run.mfu_palm)
    table.add({"MFU by PaLM", percent(*run.mfu_palm), "6N + 12Lhs: attention whole, embeddings too"});
  add_exposed(table, run);
  add_memory(table, run, at_peak);
  if (run.skipped_steps > 0)
    table.add({"skipped steps", std::to_string(run.skipped_steps), "their gradients were not finite"});
  add_loss(table, "loss", run, run.losses);
  add_loss(table, "gradient norm", run, run.gradient_norms);
  return table;
}

std::string sent_note(const CommunicationTotal& total) {
  if (total.bytes.value == 0) return "";                      // of an imported trace that does not tell it
  const bool beyond = total.sent.value == k_largest_integer;  // what an integer holds
  std::string note = (beyond ? "8 EiB or more" : to_string(total.sent)) + " sent";
  if (!total.counted) return note;
  return note +
         (*total.counted == total.sent ? ", counted the same" : ", counted " + to_string(*total.counted));
}

std::string volume_line(const std::optional<CommunicationVolume>& volume) {
  if (!volume) return "";
  std::string line = fmt::format("  a rank sends {:.2f} numbers per model parameter", volume->sent);
  if (volume->limit) line += fmt::format("; with more ranks this nears {:.3g}", *volume->limit);
  return line + '\n';
}

std::string communication_part(const RunSummary& run, const TextStyle& style) {
  TextTable table(
      {{"", Align::left}, {"", Align::left}, {"", Align::right}, {"", Align::right}, {"", Align::left, true}},
      "  ");
  for (const CommunicationTotal& total : run.communication) {
    table.add({std::string(to_string(total.kind)), fmt::format("of {} ranks", total.group_size),
               fmt::format("{} x", total.count), total.bytes.value > 0 ? to_string(total.bytes) : "unknown",
               sent_note(total)});
  }
  if (table.empty()) return "";
  return "\ncommunication of a rank in a step (full side; sent by all ranks)\n" + table.text(style) +
         volume_line(run.volume);
}

std::string transfers_part(const RunSummary& run, const TextStyle& style) {
  if (run.transfers.empty()) return "";
  TextTable table({{"", Align::left}, {"", Align::right}, {"", Align::right}}, "  ");
  for (const TransferTotal& total : run.transfers) {
    table.add({with_spaces(fmt::format("{} to {}", to_string(total.from), to_string(total.to))),
               fmt::format("{} x", total.count), to_string(total.bytes)});
  }
  return "\ntransfers of a rank in a step\n" + table.text(style);
}

std::string memory_part(const RunSummary& run, const TextStyle& style) {
  if (!run.memory || !knows_classes(run.memory->by_class)) return "";
  TextTable classes({{"", Align::left}, {"", Align::right}, {"", Align::right}}, "  ");
  for (std::size_t i = 0; i < k_buffer_classes; ++i) {
    const Bytes bytes = run.memory->by_class[i];
    if (bytes.value == 0) continue;
    classes.add({with_spaces(to_string(static_cast<BufferClass>(i))), to_string(bytes),
                 percent(share_of(bytes.value, run.memory->peak_allocated.value))});
  }
  std::string text = "\nmemory at the peak\n" + classes.text(style);
  if (const auto& teacher = run.memory->teacher) {
    text +=
        fmt::format("  of it the teacher's: parameters {}, gathered {}, logits {}\n",
                    to_string(teacher->parameters), to_string(teacher->gathered), to_string(teacher->logits));
  }
  if (run.ended_by) return text;
  text += "  highest in ";
  for (std::size_t i = 0; i < k_step_phases; ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", to_string(static_cast<StepPhase>(i)),
                        to_string(run.memory->phases[i]));
  }
  return text + '\n';
}

// What is not an operator (accumulations, copies) is neither.
bool is_product(const OperatorTime& op) {
  const OperatorType* type = find_operator_type(op.operation);
  return type != nullptr && type->category != OperatorCategory::memory_bound;
}

double share_of_products(const RunSummary& run) {
  std::int64_t products = 0;
  for (const OperatorTime& op : run.operators) products += is_product(op) ? op.time.value : 0;
  return share_of(products, run.step_time.median.value);
}

// The longest first.
std::string operators_part(const RunSummary& run, const TextStyle& style) {
  if (run.operators.empty()) return "";
  std::vector<OperatorTime> operators = run.operators;
  std::stable_sort(operators.begin(), operators.end(),
                   [](const auto& a, const auto& b) { return a.time > b.time; });
  TextTable table(
      {{"", Align::left}, {"", Align::left}, {"", Align::right}, {"", Align::right}, {"", Align::right}},
      "  ");
  for (const OperatorTime& op : operators) {
    table.add({op.operation, op.backward ? "backward" : "forward", fmt::format("{} x", op.calls),
               to_string(op.time), percent(share_of(op.time.value, run.step_time.median.value))});
  }
  return "\noperators of a rank in a step\n" + table.text(style) +
         fmt::format("  products and attention are {} of the step\n", percent(share_of_products(run)));
}

std::string alternatives_part(const RunSummary& run, const TextStyle& style) {
  if (run.alternatives.empty()) return "";
  TextTable table({{"", Align::left},
                   {"peak", Align::right},
                   {"tokens/s", Align::right},
                   {"fits", Align::left},
                   {"", Align::left, true}},
                  "  ");
  for (const Alternative& each : run.alternatives) {
    table.add(
        {each.setting, to_string(each.peak_allocated), rate(each.tokens_per_second),
         each.fits ? TableCell(std::string(to_string(*each.fits)), tone_of(*each.fits)) : TableCell("-"),
         each.effect});
  }
  return "\nwith one key changed\n" + table.text(style);
}

constexpr std::size_t k_list_width = 100;

// One item of a list; what does not fit into a line goes on below, indented.
std::string list_item(std::string_view item) {
  std::string text = "  ";
  std::size_t column = text.size();
  while (!item.empty()) {
    const std::string_view word = item.substr(0, item.find(' '));
    if (column + word.size() > k_list_width) {
      text.back() = '\n';
      text += "    ";
      column = 4;
    }
    text += word;
    text += ' ';
    column += word.size() + 1;
    item.remove_prefix(std::min(word.size() + 1, item.size()));
  }
  text.back() = '\n';
  return text;
}

std::string list_part(std::string_view title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (const std::string& item : items) text += list_item(item);
  return text;
}

}  // namespace

std::string summary_table(const RunSummary& run, const TextStyle& style, const StepPlan* at_peak) {
  std::string title(to_string(run.kind));
  if (run.kind == RunKind::predicted) title += run.calibrated ? ", calibrated" : ", not calibrated";
  title += run.ranks > 0 ? fmt::format(", {} {}", run.ranks, run.ranks == 1 ? "rank" : "ranks")
                         : std::string(", unknown number of ranks");
  title += fmt::format(", plan {:.12}\n", run.plan_hash);
  if (run.ended_by) title += "not finished: " + *run.ended_by + '\n';
  return title + figures_table(run, at_peak).text(style) + communication_part(run, style) +
         transfers_part(run, style) + operators_part(run, style) + memory_part(run, style) +
         life_part(run, style) + overheads_part(run, style) + alternatives_part(run, style) +
         list_part("assumed", run.assumes) + list_part("not in these figures", run.leaves_out);
}

}  // namespace shardlab
