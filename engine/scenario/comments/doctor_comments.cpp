#include "engine/scenario/comments/doctor_comments.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace shardlab {
namespace {

constexpr std::string_view k_doctor = "doctor:";

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view k_blank = " \t\r";
  const std::size_t first = text.find_first_not_of(k_blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blank) - first + 1);
}

struct CommentedLine {
  std::string_view before;  // the comment; without blanks around it
  std::optional<std::string_view> to_doctor;
};

// A comment begins with # at the beginning of a line or behind a blank.
CommentedLine commented_line(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t') continue;
    const std::string_view before = without_blanks(line.substr(0, at));
    const std::string_view comment = without_blanks(line.substr(at + 1));
    if (comment.starts_with(k_doctor)) return {before, without_blanks(comment.substr(k_doctor.size()))};
    if (before.empty()) return {};
  }
  return {without_blanks(line), {}};
}

std::vector<CommentedLine> commented_lines(std::string_view yaml) {
  std::vector<CommentedLine> lines;
  while (!yaml.empty()) {
    const std::size_t end = std::min(yaml.find('\n'), yaml.size());
    lines.push_back(commented_line(yaml.substr(0, end)));
    yaml.remove_prefix(std::min(end + 1, yaml.size()));
  }
  return lines;
}

int first_line_with_a_key(const ScenarioSource& source) {
  int first = std::numeric_limits<int>::max();
  for (const auto& [key, place] : source.places()) {
    if (place.file == source.file() && place.line > 0) first = std::min(first, place.line);
  }
  return first;
}

// The outermost key of the line; a list begins in the line below its key's.
std::optional<std::string> key_in_line(const ScenarioSource& source, int line, bool ends_in_colon) {
  std::optional<std::string> outermost;
  for (const auto& [key, place] : source.places()) {
    const bool is_here = place.line == line || (ends_in_colon && place.line == line + 1);
    if (place.file == source.file() && is_here && (!outermost || key.size() < outermost->size()))
      outermost = key;
  }
  return outermost;
}

}  // namespace

std::vector<DoctorComment> doctor_comments(std::string_view yaml, const ScenarioSource& source) {
  std::vector<DoctorComment> comments;
  if (yaml.find(k_doctor) == std::string_view::npos) return comments;
  const std::vector<CommentedLine> lines = commented_lines(yaml);
  const int first_key = first_line_with_a_key(source);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].to_doctor) continue;
    DoctorComment comment{std::string(*lines[i].to_doctor), static_cast<int>(i) + 1, {}};
    std::size_t about = i;
    while (about < lines.size() && lines[about].before.empty()) ++about;
    if (comment.line < first_key)
      comment.key = "";
    else if (about < lines.size())
      comment.key = key_in_line(source, static_cast<int>(about) + 1, lines[about].before.ends_with(':'));
    comments.push_back(std::move(comment));
  }
  return comments;
}

}  // namespace shardlab
