#include <algorithm>

#include <fmt/format.h>

#include "engine/report/explain_memory/explained_memory.h"
#include "engine/report/figures.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

Tone tone_of(const std::optional<Fit>& fits) {
  if (!fits) return Tone::plain;
  return *fits == Fit::yes ? Tone::good : *fits == Fit::unsure ? Tone::fair : Tone::bad;
}

std::string sum_part(const MemorySum& sum, const TextStyle& style) {
  TextTable table({{"", Align::left}, {"", Align::left}, {"", Align::right}, {"", Align::left, true}}, "  ");
  for (std::size_t i = 0; i < sum.lines.size(); ++i) {
    const MemorySumLine& line = sum.lines[i];
    const bool is_sum = line.role == SumRole::sum;
    table.add({is_sum ? "=" : i == 0 ? "" : "+", line.name, to_string(line.bytes), {line.note, Tone::faint}});
  }
  if (sum.limit) table.add({"", "limit of a rank", to_string(*sum.limit)});
  return table.text(style) + "  " + painted(verdict_words(sum), tone_of(sum.fits), style) + "\n";
}

// Parts below half a hundredth of the peak are told together, and no more than so many of a row.
constexpr std::size_t k_most_parts = 12;
constexpr std::int64_t k_least_share = 200;

std::string part_words(const MemoryPart& part) {
  if (part.made_by.empty()) return part.what.empty() ? "of it" : part.what;
  return part.what.empty() ? "by " + part.made_by : fmt::format("{}, by {}", part.what, part.made_by);
}

void add_parts(TextTable& table, const MemoryRow& row, Bytes peak) {
  std::size_t told = 0;
  Bytes rest = row.alive.bytes;
  while (told < row.parts.size() && told < k_most_parts &&
         row.parts[told].bytes().value * k_least_share >= peak.value) {
    const MemoryPart& part = row.parts[told++];
    rest -= part.bytes();
    table.add({"", "", fmt::format("  {:>8}  {}", to_string(part.bytes()), part_words(part)),
               to_text(part.formula)});
  }
  if (told == row.parts.size()) return;
  const auto others = static_cast<std::int64_t>(row.parts.size() - told);
  table.add(
      {"", "",
       fmt::format("  {:>8}  {}", to_string(rest), counted(others, told == 0 ? "part" : "smaller part"))});
}

std::string row_words(const MemoryRow& row) {
  const bool one = row.parts.size() == 1 && !row.parts.front().made_by.empty();
  return one ? fmt::format("{}, by {}", row.alive.what, row.parts.front().made_by) : row.alive.what;
}

// "1, 3": the numbers of the settings below.
std::string numbers_of(const MemoryRow& row, const std::vector<MemorySaving>& savings) {
  std::string numbers;
  for (std::size_t i = 0; i < savings.size(); ++i) {
    if (std::find(row.settings.begin(), row.settings.end(), savings[i].setting) == row.settings.end())
      continue;
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", i + 1);
  }
  return numbers;
}

std::string rows_part(const ExplainedMemory& memory, const TextStyle& style) {
  TextTable table({{"bytes"},
                   {"less by", Align::left},
                   {"what", Align::left, true, 42},
                   {"in numbers of the scenario", Align::left},
                   {"made by", Align::left, true, 20}},
                  "  ");
  Bytes peak;
  for (const MemoryRow& row : memory.rows) peak += row.alive.bytes;
  for (const MemoryRow& row : memory.rows) {
    const bool one = row.parts.size() == 1;
    table.add({to_string(row.alive.bytes), numbers_of(row, memory.savings), row_words(row),
               one ? to_text(row.parts.front().formula) : "", row.alive.since_words});
    if (!one) add_parts(table, row, peak);
  }
  table.add({to_string(peak), "", "all of it"});
  return "\nlive tensors at that moment\n" + table.text(style);
}

std::string change_of(double after, double before) {
  return before > 0 ? signed_percent(after / before - 1) : "-";
}

std::string savings_part(const ExplainedMemory& memory, const TextStyle& style) {
  int number = 0;
  const bool on_device = memory.sum.lines.size() > 1;
  if (memory.savings.empty()) return "\nno single setting that was tried lowers it\n";
  TextTable table({{""},
                   {"set", Align::left},
                   {"gain"},
                   {on_device ? "on the device" : "peak"},
                   {"step time"},
                   {"tokens/s"},
                   {"fits", Align::left},
                   {"what it does", Align::left}},
                  "  ");
  for (const MemorySaving& each : memory.savings) {
    table.add(
        {std::to_string(++number), each.setting, "-" + to_string(each.gain),
         to_string(each.peak_device.value_or(each.peak_allocated)),
         change_of(static_cast<double>(each.step_time.value), static_cast<double>(memory.step_time.value)),
         change_of(each.tokens_per_second, memory.tokens_per_second),
         each.fits ? TableCell(std::string(to_string(*each.fits)), tone_of(each.fits)) : TableCell("-"),
         each.effect});
  }
  const std::string heading =
      memory.savings.front().comparison  // it is the last: there is nothing else
          ? "no single setting that was tried lowers it"
          : "settings that would lower it, each predicted alone; rows name those that shrink them";
  return "\n" + heading + "\n" + table.text(style);
}

// Formulas are as long as they are: below their figure, uncut.
std::string tools_part(const ExplainedMemory& memory, const TextStyle& style) {
  constexpr int k_figure = 34;
  std::string text = "\nwhat other tools' formulas say of a rank\n";
  const auto add = [&](const std::string& name, const std::string& figure, const std::string& words) {
    text +=
        fmt::format("  {:{}} {:>9}\n      {}\n", name, k_figure, figure, painted(words, Tone::faint, style));
  };
  add("shardlab", to_string(memory.sum.total()), memory.sum.lines.back().name);
  add("shardlab, model states alone", to_string(memory.model_states),
      "of it parameters, gradients and optimizer state");
  for (const ToolAnswer& each : memory.tools)
    add(each.tool, each.bytes ? to_string(*each.bytes) : "-", each.formula);
  return text;
}

}  // namespace

std::string explained_memory_text(const ExplainedMemory& memory, const TextStyle& style) {
  return fmt::format("memory of rank {} at its highest: in {} ({})\n", memory.peak_rank, memory.peak_words,
                     memory.peak_label) +
         sum_part(memory.sum, style) + rows_part(memory, style) + savings_part(memory, style) +
         tools_part(memory, style);
}

}  // namespace shardlab
