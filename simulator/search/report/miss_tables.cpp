// What is said of configurations that are not the answer.
#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/report/text_table.h"
#include "simulator/search/report/search_tables.h"
#include "simulator/search/report/search_words.h"

namespace shardlab {

std::string nearest_table(const SearchReport& report, const TextStyle& style) {
  if (report.nearest.empty()) return {};
  std::string text = "\nthe nearest misses\n";
  for (const NearMiss& miss : report.nearest) {
    std::vector<std::string> missed;
    for (const Miss& each : miss.candidate.misses) missed.push_back(each.text);
    text += candidate_block(report.question, fmt::format("  {}", fmt::join(missed, "; ")), miss.candidate,
                            style.width);
    if (miss.mend) {
      const Candidate& mended = miss.mend->candidate;
      std::vector<std::string> parts = {miss.mend->setting, time_words(mended)};
      if (miss.mend->beyond_offer) parts.front() += " (more nodes than are offered)";
      if (mended.costs.money) parts.push_back(money_words(mended));
      parts.insert(parts.end(), {gpus_words(mended), fit_words(mended.figures)});
      text += wrapped("    mended by ", parts, style.width);
    } else {
      text += "    no single setting or number of nodes that was tried mends it\n";
    }
  }
  return text;
}

std::string why_text(const WhyNot& why, const TextStyle& style) {
  std::string text = fmt::format("why not {}, on top of {}\n", fmt::join(why.settings, ", "), why.upon);
  if (!why.impossible.empty()) return text + wrapped("  not possible: ", {why.impossible}, style.width);
  if (!why.other_batch.empty()) text += wrapped("  another training: ", {why.other_batch}, style.width);
  const Candidate& asked = *why.asked;
  const Candidate& answer = *why.answer;
  for (const Miss& miss : asked.misses) text += wrapped("  misses a need: ", {miss.text}, style.width);
  if (asked.misses.empty()) {
    const double slower = change(asked.costs.time, answer.costs.time);
    text += slower > 0
                ? fmt::format("  it satisfies, and takes {} longer\n", percent(slower))
                : fmt::format("  it satisfies, and is as fast or faster ({})\n", signed_percent(slower));
  }
  TextTable table(
      {{"", Align::left}, {"asked", Align::right}, {"answer", Align::right}, {"difference", Align::right}},
      "  ");
  const auto time_row = [&](const char* name, Nanoseconds a, Nanoseconds b) {
    table.add({name, to_string(a), to_string(b),
               signed_percent(change(static_cast<double>(a.value), static_cast<double>(b.value)))});
  };
  const auto bytes_row = [&](std::string name, Bytes a, Bytes b) {
    table.add({std::move(name), to_string(a), to_string(b), signed_bytes(a - b)});
  };
  const PredictedFigures& a = asked.figures;
  const PredictedFigures& b = answer.figures;
  table.add({"time", time_words(asked), time_words(answer),
             signed_percent(change(asked.costs.time, answer.costs.time))});
  if (asked.costs.money || answer.costs.money) table.add({"money", money_words(asked), money_words(answer)});
  table.add(
      {"GPUs", fmt::format("{}", asked.configuration.gpus), fmt::format("{}", answer.configuration.gpus)});
  time_row("step time", a.step_time, b.step_time);
  time_row("  waits for communication", a.exposed_communication, b.exposed_communication);
  time_row("  everything else", a.step_time - a.exposed_communication, b.step_time - b.exposed_communication);
  table.add({"accumulation", fmt::format("{}", asked.configuration.accumulation),
             fmt::format("{}", answer.configuration.accumulation)});
  bytes_row("memory of the device", a.memory(), b.memory());
  if (why.asked_run->memory && why.answer_run->memory) {
    for (std::size_t i = 0; i < k_buffer_classes; ++i) {
      const Bytes of_asked = why.asked_run->memory->by_class[i],
                  of_answer = why.answer_run->memory->by_class[i];
      if (of_asked != of_answer)
        bytes_row("  " + std::string(to_string(static_cast<BufferClass>(i))), of_asked, of_answer);
    }
  }
  table.add({"fits", fit_cell(a), fit_cell(b)});
  text += table.text(style);
  if (!a.peak_label.empty()) text += fmt::format("  its peak is in {}\n", a.peak_label);
  return text;
}

}  // namespace shardlab
