#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/report/explain_time/explained_time.h"
#include "engine/report/figures.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

// Rows below half a hundredth of the step are told together, operators below a hundredth.
constexpr double k_least_row = 0.005, k_least_operator = 0.01;

Tone tone_of(const std::optional<Fit>& fits) {
  if (!fits) return Tone::plain;
  return *fits == Fit::yes ? Tone::good : *fits == Fit::unsure ? Tone::fair : Tone::bad;
}

double share_of(Nanoseconds part, Nanoseconds all) {
  return all.value > 0 ? static_cast<double>(part.value) / static_cast<double>(all.value) : 0;
}

std::string share(Nanoseconds part, Nanoseconds all) {
  return percent(share_of(part, all));
}

std::string parts_line(const ExplainedTime& time) {
  std::vector<std::string> texts;
  for (const Word<PathPart>& each : k_words<PathPart>) {
    const Nanoseconds part = time.parts[static_cast<std::size_t>(each.value)];
    if (part.value > 0)
      texts.push_back(fmt::format("{} {} ({})", each.text, to_string(part), share(part, time.step_time)));
  }
  return fmt::format("  the critical path: {}\n", fmt::join(texts, ", "));
}

std::string rows_part(const ExplainedTime& time, const TextStyle& style) {
  TextTable table({{"time"},
                   {"share"},
                   {"of", Align::left},
                   {"what", Align::left},
                   {"pieces"},
                   {"longest"},
                   {"after", Align::left, true, 20}},
                  "  ");
  Nanoseconds rest;
  std::int64_t others = 0;
  for (const PathRow& row : time.rows) {
    if (share_of(row.time, time.step_time) < k_least_row) {
      rest += row.time;
      ++others;
      continue;
    }
    table.add({to_string(row.time),
               share(row.time, time.step_time),
               std::string(to_string(row.part)),
               row.what,
               std::to_string(row.pieces),
               to_string(row.longest_time),
               {row.after, Tone::faint}});
  }
  if (others > 0)
    table.add({to_string(rest), share(rest, time.step_time), "", counted(others, "smaller row")});
  table.add({to_string(time.step_time), "", "", "the step"});
  return "\nfrom the first launch to the last end, each beginning when the one before it ended\n" +
         table.text(style);
}

std::string operators_part(const ExplainedTime& time, const TextStyle& style) {
  Nanoseconds all;
  for (const OperatorTime& each : time.operators) all += each.time;
  if (all.value == 0) return {};
  TextTable table({{"time"}, {"share"}, {"calls"}, {"operator", Align::left}}, "  ");
  Nanoseconds rest;
  std::int64_t others = 0;
  for (const OperatorTime& each : time.operators) {
    if (share_of(each.time, all) < k_least_operator) {
      rest += each.time;
      ++others;
      continue;
    }
    table.add({to_string(each.time), share(each.time, all), std::to_string(each.calls),
               each.operation + (each.backward ? ", backward" : "")});
  }
  if (others > 0) table.add({to_string(rest), share(rest, all), "", counted(others, "smaller one")});
  return "\noperators of a rank in a step, each alone on the device\n" + table.text(style);
}

std::string change_of(double after, double before) {
  return before > 0 ? signed_percent(after / before - 1) : "-";
}

std::string savings_part(const ExplainedTime& time, const TextStyle& style) {
  if (time.savings.empty()) return "\nno setting that was tried makes it faster\n";
  TextTable table({{"set", Align::left},
                   {"tokens/s"},
                   {"step time"},
                   {"exposed"},
                   {"memory"},
                   {"fits", Align::left},
                   {"what it does", Align::left}},
                  "  ");
  for (const TimeSaving& each : time.savings)
    table.add({fmt::format("{}", fmt::join(each.settings, " ")),
               change_of(each.tokens_per_second, time.tokens_per_second), to_string(each.step_time),
               to_string(each.exposed), to_string(each.peak),
               each.fits ? TableCell(std::string(to_string(*each.fits)), tone_of(each.fits)) : TableCell("-"),
               each.effect});
  const std::string_view heading = time.savings.front().comparison  // it is the last: there is nothing else
                                       ? "no setting that was tried makes it faster"
                                       : "settings that would make it faster, each predicted alone";
  return fmt::format("\n{} (now {} exposed, {})\n", heading, to_string(time.exposed), to_string(time.peak)) +
         table.text(style);
}

}  // namespace

std::string explained_time_text(const ExplainedTime& time, const TextStyle& style) {
  return fmt::format("a steady step of rank {}: {}, {} tokens per second\n", time.rank,
                     to_string(time.step_time),
                     grouped(static_cast<std::int64_t>(time.tokens_per_second + 0.5))) +
         parts_line(time) + rows_part(time, style) + operators_part(time, style) + savings_part(time, style);
}

}  // namespace shardlab
