#include "engine/report/fit_notes.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "engine/base/chance.h"

namespace shardlab {
namespace {

// What a terminal of 80 columns leaves beside names and figures.
constexpr std::size_t k_note_width = 44;

// The end of the word that the text begins with. A figure goes on with its unit: "79.2 GiB", "99 %".
std::size_t end_of_word(std::string_view text) {
  std::size_t end = text.find(' ');
  while (end != std::string_view::npos && end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
    end = text.find(' ', end + 1);
  return std::min(end, text.size());
}

// A word that is longer than a line has one of its own.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, end_of_word(text));
    if (lines.empty() || lines.back().size() + 1 + word.size() > k_note_width)
      lines.emplace_back(word);
    else
      lines.back().append(" ").append(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return lines;
}

bool chance_decided(const RunSummary& run) {
  if (!run.fit_reason || !run.fit_probability) return true;
  return run.fits == Fit::no && *run.fit_probability <= k_unlikely_to_run;
}

}  // namespace

std::vector<std::string> fit_notes(const RunSummary& run) {
  const std::string limit = fmt::format("limit {} a rank", to_string(*run.memory_limit));
  if (!run.fit_probability) return {limit};
  if (chance_decided(run)) return {fmt::format("{}; chance {}", limit, chance(*run.fit_probability))};
  std::vector<std::string> lines =
      lines_of(fmt::format("{}; steps run with {}", *run.fit_reason, chance(*run.fit_probability)));
  lines.push_back(limit);
  return lines;
}

}  // namespace shardlab
