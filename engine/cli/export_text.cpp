#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/text/utf8.h"
#include "engine/cli/export_report.h"
#include "engine/report/figures.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

double as_double(Nanoseconds time) {
  return static_cast<double>(time.value);
}

std::string change_of(const PredictedStep& from, const PredictedStep& to) {
  const double time = as_double(to.step_time) / as_double(from.step_time) - 1;
  const double peak =
      static_cast<double>(to.peak_allocated.value) / static_cast<double>(from.peak_allocated.value) - 1;
  return fmt::format("step {}, peak {}", signed_percent(time), signed_percent(peak));
}

// What there is room for in a line; the whole value stands in the file's head and in --json.
std::string shortened(const std::string& value) {
  constexpr std::size_t k_room = 44;
  return value.size() <= k_room ? value : std::string(whole_characters(value, k_room - 2)) + "..";
}

std::string effect_of(const MadeExport& made, std::size_t difference) {
  if (!made.scenario || difference >= made.alone.size()) return {};
  if (!made.alone[difference]) return ": not predicted";
  return ": " + change_of(*made.scenario, *made.alone[difference]);
}

std::string differences_text(const MadeExport& made, const TextStyle& style) {
  std::string text;
  for (std::size_t i = 0; i < made.differences.size(); ++i) {
    const ExportDifference& d = made.differences[i];
    if (d.kind == DifferenceKind::elsewhere) continue;
    const Tone tone = d.kind == DifferenceKind::lost ? Tone::bad : Tone::fair;
    text += fmt::format("  {} {}: {} -> {}{}\n         {}\n",
                        painted(fmt::format("{:6}", to_string(d.kind)), tone, style), d.setting,
                        shortened(d.scenario), shortened(d.instead), effect_of(made, i),
                        painted(d.why, Tone::faint, style));
  }
  return text;
}

std::string program_text(const MadeExport& made) {
  std::string text;
  for (const ExportDifference& d : made.differences) {
    if (d.kind == DifferenceKind::elsewhere) text += fmt::format("    {}\n", d.instead);
  }
  return text.empty() ? text : "  the program has to say\n" + text;
}

// Below it whether it fits, where that is in doubt.
std::string step_lines(std::string_view whose, const PredictedStep& step, const std::string& note) {
  const std::string fit = fit_words(step);
  return fmt::format("  {:8}  step {}, peak allocated {}{}\n{}", whose, to_string(step.step_time),
                     to_string(step.peak_allocated), note,
                     fit.empty() ? "" : fmt::format("            {}\n", fit));
}

std::string prediction_text(const MadeExport& made) {
  if (!made.unpredictable.empty()) return fmt::format("  no prediction: {}\n", made.unpredictable);
  if (!made.scenario || !made.run) return {};
  const std::string text = step_lines("scenario", *made.scenario, "");
  if (overrides_of(made.differences).empty()) return text;
  const std::string without =
      made.unpredicted.empty()
          ? ""
          : fmt::format(", without {}, which cannot be predicted", fmt::join(made.unpredicted, ", "));
  return text + step_lines("file", *made.run, without);
}

}  // namespace

std::vector<std::string> notes_on_memory(std::span<const MadeExport> exports) {
  std::vector<std::pair<std::string, std::vector<std::string_view>>> verdicts;  // in words, with targets
  for (const MadeExport& made : exports) {
    const std::string words = made.run ? fit_words(*made.run) : "";
    if (words.empty()) continue;
    auto known = std::find_if(verdicts.begin(), verdicts.end(),
                              [&](const auto& verdict) { return verdict.first == words; });
    if (known == verdicts.end()) known = verdicts.insert(known, {words, {}});
    known->second.push_back(made.target->name);
  }
  std::vector<std::string> notes;
  for (const auto& [words, targets] : verdicts)
    notes.push_back(fmt::format("note: what is written for {} {}", fmt::join(targets, ", "), words));
  return notes;
}

std::string exports_text(std::span<const MadeExport> exports, const ExportOutcome& outcome,
                         const TextStyle& style) {
  std::string text;
  for (const MadeExport& made : exports) {
    text += words_of(*made.target) + ": ";
    if (!made.refusal.why.empty()) {
      text += fmt::format("not for this scenario: {}\n", made.refusal.why);
      continue;
    }
    std::vector<std::string> names;
    for (const ExportedFile& file : made.files) names.push_back((outcome.folder / file.name).string());
    text += fmt::format("{}{}\n", outcome.written ? "" : "not written: ", fmt::join(names, ", "));
    text += prediction_text(made) + differences_text(made, style) + program_text(made);
    if (!outcome.print_files) continue;
    for (const ExportedFile& file : made.files) text += fmt::format("\n--- {}\n{}", file.name, file.text);
  }
  if (!outcome.missing.empty()) {
    text += fmt::format("nothing was written: {} would be lost; --accept {} takes that\n",
                        fmt::join(outcome.missing, ", "), fmt::join(outcome.missing, " --accept "));
  }
  return text;
}

}  // namespace shardlab
