#include "engine/formats/logs/progress_bar.h"

#include <algorithm>
#include <charconv>

#include "engine/formats/logs/line_numbers.h"

namespace shardlab {
namespace {

std::optional<std::int64_t> count_of(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

// `1:02:03` and `15:32`: seconds.
std::optional<double> elapsed(std::string_view text) {
  double sum = 0;
  int parts = 0;
  while (!text.empty() && parts < 3) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto part = count_of(text.substr(0, colon));
    if (!part || *part > 1'000'000) return std::nullopt;
    sum = sum * 60 + static_cast<double>(*part);
    text.remove_prefix(std::min(colon + 1, text.size()));
    ++parts;
  }
  return parts >= 2 && text.empty() ? std::optional(sum) : std::nullopt;
}

// The digits that end the text.
std::string_view digits_before(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  return text.substr(begin);
}

// Whether nothing but the share in percent stands before the bar that ends here; what an earlier bar or a
// line left before it is no name.
bool has_no_name(std::string_view head) {
  const std::size_t percent = head.rfind("%|");
  if (percent == std::string_view::npos) return false;
  std::string_view before = head.substr(0, percent);
  before.remove_suffix(digits_before(before).size());
  while (!before.empty() && before.back() == ' ') before.remove_suffix(1);
  return before.empty() || before.back() == ']' || before.back() == '}';
}

}  // namespace

std::optional<LineFigures> progress_figures(std::string_view line) {
  for (std::size_t at = line.rfind(" ["); at != std::string_view::npos && at > 0;
       at = line.rfind(" [", at - 1)) {
    const std::string_view rest = line.substr(at + 2);
    const std::size_t end = rest.find('<');
    const auto time = end == std::string_view::npos ? std::nullopt : elapsed(rest.substr(0, end));
    if (!time) continue;
    const std::string_view head = line.substr(0, at), total = digits_before(head);
    const std::string_view above = head.substr(0, head.size() - total.size());
    if (total.empty() || !above.ends_with('/')) continue;
    const std::string_view done = digits_before(above.substr(0, above.size() - 1));
    if (done.empty() || !has_no_name(head)) continue;
    LineFigures figures{.kind = LineKind::progress_bar};
    figures.step = count_of(done);
    figures.of = count_of(total);
    figures.clock = seconds(time);
    if (figures.step && figures.of && figures.clock) return figures;
  }
  return std::nullopt;
}

}  // namespace shardlab
