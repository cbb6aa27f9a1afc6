#include "gui/view_model/why.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "engine/trace/figure_rows.h"

namespace shardlab::view {

namespace {

double product(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 1.0, [](double a, double b) { return a * b; });
}

// As engine/trace/step_time.h: of an even number the mean of the middle two.
double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const std::size_t half = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

}  // namespace

std::optional<double> reckon(const Why& why) {
  std::vector<double> numbers;
  for (const WhyPart& part : why.parts)
    if (part.number) numbers.push_back(*part.number);
  const bool divides = why.arithmetic == Arithmetic::quotient || why.arithmetic == Arithmetic::error;
  if (numbers.empty() || (divides && (numbers.size() != 2 || numbers[1] == 0))) return std::nullopt;
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  switch (why.arithmetic) {
    case Arithmetic::none: return std::nullopt;
    case Arithmetic::sum: return sum;
    case Arithmetic::difference: return 2 * numbers.front() - sum;
    case Arithmetic::product: return product(numbers);
    case Arithmetic::quotient: return numbers[0] / numbers[1];
    case Arithmetic::error: return numbers[0] / numbers[1] - 1;
    case Arithmetic::median: return median(std::move(numbers));
  }
  return std::nullopt;
}

std::string to_text(const Why& why) {
  std::string text = fmt::format("{}: {}\n", why.title, why.value);
  if (!why.formula.empty()) text += why.formula + '\n';
  for (const WhyPart& part : why.parts) text += fmt::format("  {}: {}\n", part.label, part.value);
  for (const std::string& key : why.settings)
    text += fmt::format("{}{}", &key == &why.settings.front() ? "settings: " : ", ", key);
  if (!why.settings.empty()) text += '\n';
  if (!why.source.empty()) text += "source: " + why.source + '\n';
  for (const std::string& note : why.notes) text += note + '\n';
  return text;
}

std::optional<Meaning> metric_meaning(std::string_view metric) {
  const FigureRow* const row = find_figure(metric);
  if (row == nullptr) return std::nullopt;
  const FigureFacts& facts = row->facts;
  const bool is_column = facts.column == metric && !facts.column_meaning.empty();
  Meaning meaning{std::string(is_column ? facts.column_meaning : facts.meaning), "docs/glossary.md", {}};
  for (const std::string_view key : facts.settings) {
    if (!key.empty()) meaning.settings.emplace_back(key);
  }
  return meaning;
}

}  // namespace shardlab::view
