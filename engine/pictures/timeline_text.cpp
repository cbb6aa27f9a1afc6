#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "engine/pictures/timeline_picture.h"

namespace shardlab {
namespace {

constexpr double k_seen = 0.12;  // the share of a column from which it is marked

// How much of each column the intervals of one lane cover, by letter.
class ColumnShares {
 public:
  ColumnShares(const TimelinePicture& picture, int columns)
      : begin_(static_cast<double>(picture.begin.value)),
        width_(std::max(static_cast<double>((picture.end - picture.begin).value), 1.0) / columns),
        shares_(static_cast<std::size_t>(columns)) {}

  void add(Nanoseconds begin, Nanoseconds end, char letter) {
    const double from = (static_cast<double>(begin.value) - begin_) / width_;
    const double to = (static_cast<double>(end.value) - begin_) / width_;
    for (auto c = static_cast<std::size_t>(std::max(from, 0.0));
         c < shares_.size() && static_cast<double>(c) < to; ++c)
      shares_[c][letter] += std::min(to, static_cast<double>(c) + 1) - std::max(from, static_cast<double>(c));
  }

  std::string line(char empty) const {
    std::string text;
    for (const auto& column : shares_) {
      const auto most = std::max_element(column.begin(), column.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      text += most == column.end() || most->second < k_seen ? empty : most->first;
    }
    return text;
  }

 private:
  double begin_, width_;
  std::vector<std::map<char, double>> shares_;
};

// The host's lane is about being busy, not with what.
char letter_in(bool host, InstructionKind kind) {
  if (!host) return look_of(kind).letter;
  return kind == InstructionKind::HostWait ? 'w' : 'h';
}

}  // namespace

std::string timeline_text(const TimelinePicture& picture, int columns) {
  std::size_t margin = 8;
  for (const PictureLane& lane : picture.lanes) margin = std::max(margin, lane.name.size());
  std::string text;
  std::map<char, std::string> legend;
  if (!picture.exposed.empty()) {
    ColumnShares shares(picture, columns);
    for (const TimeInterval& interval : picture.exposed) shares.add(interval.begin, interval.end, '!');
    text += fmt::format("  {:<{}} |{}|\n", "", margin, shares.line(' '));
    legend['!'] = "compute waits for communication";
  }
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const PictureLane& lane = picture.lanes[i];
    const bool host = lane.is_host;
    ColumnShares shares(picture, columns);
    for (const LaneSpan& span : lane.spans) {
      const char letter = letter_in(host, span.kind);
      shares.add(span.begin, span.end, letter);
      legend[letter] = letter == 'h' ? "host issues" : look_of(span.kind).name;
    }
    text += fmt::format("  {:<{}} |{}|\n", lane.name, margin, shares.line('.'));
  }
  const std::string end = to_string(picture.end - picture.begin);
  const int room = columns - static_cast<int>(end.size());
  text += fmt::format("  {:<{}}  {:<{}}{}\n", "", margin, "0", std::max(room, 1), end);
  std::string line;
  for (const auto& [letter, name] : legend) {
    const std::string entry = fmt::format("{} {}", letter, name);
    if (!line.empty() && line.size() + entry.size() > static_cast<std::size_t>(columns)) {
      text += fmt::format("  {:<{}}  {}\n", "", margin, line);
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + entry;
  }
  return text + fmt::format("  {:<{}}  {}\n", "", margin, line);
}

}  // namespace shardlab
