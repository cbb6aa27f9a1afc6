#include "gui/view_model/run_titles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/formats/profiler/import_profile.h"
#include "engine/report/setting_differences.h"

namespace shardlab::view {
namespace {

constexpr std::size_t k_told = 2;  // settings in a title

std::string with(std::string text, std::string_view word) {
  if (word.empty()) return text;
  if (!text.empty()) text += ' ';
  return text += word;
}

// An imported trace has no strategy, and a scenario's name often says its own.
std::string_view strategy_of(const LoadedRun& run) {
  const std::string& strategy = run.plan().strategy;
  if (strategy == k_imported_strategy || run.record.name.find(strategy) != std::string::npos) return {};
  return strategy;
}

ScenarioText scenario_of(const LoadedRun& run) {
  return {run.record.scenario_yaml, run.record.name};
}

std::string in_words(const std::vector<SettingDifference>& differences, bool first) {
  std::string text;
  for (std::size_t i = 0; i < std::min(differences.size(), k_told); ++i) {
    const std::string& value = first ? differences[i].first : differences[i].second;
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", differences[i].key, value.empty() ? "none" : value);
  }
  if (differences.size() > k_told) text += fmt::format(" and {} more", differences.size() - k_told);
  return text;
}

// The strategy is in the title already.
std::vector<SettingDifference> told_differences(const LoadedRun& first, const LoadedRun& second) {
  auto differences =
      setting_differences(scenario_of(first), scenario_of(second)).value_or(std::vector<SettingDifference>());
  std::erase_if(differences, [&](const SettingDifference& each) {
    return each.key == "parallel.strategy" && !strategy_of(first).empty() && !strategy_of(second).empty();
  });
  return differences;
}

}  // namespace

std::string title_of(const LoadedRun& run) {
  if (!run.called.empty()) return run.called;
  std::string text = run.role;
  if (run.id) text = with(std::move(text), to_string(*run.id));
  text = with(std::move(text), run.record.name);
  text = with(std::move(text), strategy_of(run));
  return fmt::format("{}{}{}", text, text.empty() ? "" : ", ", to_string(run.kind()));
}

std::vector<std::string> titles_of(const std::vector<LoadedRunPtr>& runs) {
  std::vector<std::string> titles;
  std::map<std::size_t, std::string> notes;  // by run
  for (std::size_t i = 0; i < runs.size(); ++i) {
    titles.push_back(title_of(*runs[i]));
    if (!runs[i]->called.empty()) continue;
    const auto same = std::find_if(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const LoadedRunPtr& run) {
                                     return run->called.empty() && run->record.name == runs[i]->record.name;
                                   });
    const auto first = static_cast<std::size_t>(same - runs.begin());
    if (first == i) continue;
    const auto differences = told_differences(*runs[first], *runs[i]);
    notes[i] = in_words(differences, false);
    if (notes[first].empty()) notes[first] = in_words(differences, true);
  }
  for (const auto& [run, note] : notes)
    if (!note.empty()) titles[run] += fmt::format(" ({})", note);
  return titles;
}

}  // namespace shardlab::view
