#include "simulator/search/report/search_words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_reckoned_tokens = 1'000'000;

std::string bound_words(const MetricNeed& need) {
  std::string text = need.metric;
  if (need.least) text += " at least " + metric_figure(*need.least, need.unit);
  if (need.least && need.most) text += " and";
  if (need.most) text += " at most " + metric_figure(*need.most, need.unit);
  return text;
}

}  // namespace

std::string order_words(const Order& order) {
  if (!order.largest.empty()) return "the largest " + order.largest;
  switch (order.objective) {
    case SearchObjective::time: return "time";
    case SearchObjective::money: return "money";
    case SearchObjective::gpus: return "the fewest GPUs";
    case SearchObjective::batch: return "the largest micro-batch";
  }
  return {};
}

std::string gpus_words(const Candidate& candidate) {
  const Configuration& configuration = candidate.configuration;
  // Predictions for processors have no peak of a device.
  const std::string gpus = counted(configuration.gpus, candidate.figures.peak_device ? "GPU" : "rank");
  if (configuration.offer == nullptr) return gpus;
  return fmt::format("{} ({} x {})", gpus, configuration.nodes, offer_name(*configuration.offer));
}

std::string hours_words(double hours) {
  if (hours < 1) return fmt::format("{:.1f} minutes", hours * 60);
  if (hours < 100) return fmt::format("{:.1f} hours", hours);
  return fmt::format("{:.1f} days", hours / 24);
}

std::string dollars_words(double dollars) {
  if (dollars < 100) return fmt::format("${:.2f}", dollars);
  return "$" + grouped(std::llround(dollars));
}

std::string time_words(const Candidate& candidate) {
  if (candidate.costs.hours) return hours_words(*candidate.costs.hours);
  return fmt::format("{:.3g} s for a million tokens", candidate.costs.time * k_reckoned_tokens);
}

std::string money_words(const Candidate& candidate) {
  if (candidate.costs.dollars) return dollars_words(*candidate.costs.dollars);
  if (candidate.costs.money)
    return fmt::format("${:.4g} for a million tokens", *candidate.costs.money * k_reckoned_tokens);
  return "unknown";
}

std::string fit_words(const PredictedFigures& figures) {
  if (figures.fit_probability) return "fits with " + chance(*figures.fit_probability);
  return figures.limit && figures.fits ? fmt::format("fits: {}", to_string(*figures.fits))
                                       : "memory has no limit";
}

std::string fit_cell(const PredictedFigures& figures) {
  if (figures.fit_probability) return chance(*figures.fit_probability);
  return figures.fits ? std::string(to_string(*figures.fits)) : "-";
}

std::string signed_bytes(Bytes bytes) {
  return (bytes.value < 0 ? "-" : "+") + to_string(Bytes{std::abs(bytes.value)});
}

double change(double to, double from) {
  return from != 0 ? to / from - 1 : 0;
}

std::vector<std::string> knob_words(const SearchQuestion& question, const Configuration& configuration) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < question.knobs.size(); ++i) {
    const Choice& choice = question.knobs[i].choices[configuration.choices[i]];
    if (i == 0 && configuration.offer != nullptr) continue;  // said with the GPUs
    words.push_back(
        fmt::format("{} {}{}", question.knobs[i].key, choice.shown, choice.standard ? " (as given)" : ""));
  }
  if (question.global_batch) words.push_back(fmt::format("accumulation {}", configuration.accumulation));
  return words;
}

std::string instead(const SearchQuestion& question, const Configuration& one, const Configuration& other) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < question.knobs.size(); ++i) {
    if (one.choices[i] == other.choices[i]) continue;
    const auto& choices = question.knobs[i].choices;
    words.push_back(fmt::format("{} {} instead of {}", question.knobs[i].key, choices[one.choices[i]].shown,
                                choices[other.choices[i]].shown));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<std::string> beyond_batch_words(const SearchQuestion& question,
                                            const std::vector<std::string>& offers) {
  constexpr std::size_t k_shown = 6;
  if (offers.empty() || !question.global_batch) return {};
  std::vector<std::string> words(
      offers.begin(), offers.begin() + static_cast<std::ptrdiff_t>(std::min(k_shown, offers.size())));
  if (offers.size() > k_shown) words.push_back(fmt::format("{} more", offers.size() - k_shown));
  words.back() += fmt::format(
      ": no micro-batch divides the global batch of {} over their GPUs; `keep: {{global_batch: N}}` trains "
      "with another",
      counted(*question.global_batch, "sequence"));
  return words;
}

std::string need_words(const Needs& needs) {
  std::string text = fmt::format("fits with {:.4g} % or more", needs.fit_probability * 100);
  if (needs.gpus) text += fmt::format(", at most {} GPUs", grouped(*needs.gpus));
  if (needs.hours) text += fmt::format(", at most {:g} hours", *needs.hours);
  if (needs.dollars) text += ", at most " + dollars_words(*needs.dollars);
  if (needs.dollars_per_hour)
    text += fmt::format(", at most {} an hour", dollars_words(*needs.dollars_per_hour));
  for (const MetricNeed& need : needs.metrics) text += ", " + bound_words(need);
  return text;
}

std::string wrapped(const std::string& first, const std::vector<std::string>& parts, int available) {
  const int width = prose_width({.width = available});
  const std::string words = fmt::format("{}", fmt::join(parts, ", "));
  const std::string indent(static_cast<std::size_t>(display_width(first)), ' ');
  std::string text, line = first;
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    const bool starts = line.size() == indent.size();
    if (!starts && display_width(line) + 1 + display_width(word) > width) {
      text += line + "\n";
      line = indent + word;
    } else {
      line += (starts ? "" : " ") + word;
    }
    begin = end + 1;
  }
  return text + line + "\n";
}

}  // namespace shardlab
