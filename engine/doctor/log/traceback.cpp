#include "engine/doctor/log/traceback.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/base/text/log_numbers.h"
#include "engine/doctor/log/sign_pattern.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_frames = 48;
constexpr std::size_t k_longest_frame = 200;
constexpr std::size_t k_most_tracebacks = 4096;

bool line_has(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

// Python's `File "x.py", line 3, in f`, rich's `│ x.py:3 in f`, and `File x.py:3, in f(a)` of notebooks.
bool is_frame(std::string_view line) {
  if (line_has(line, "file \"")) return true;
  if (!line_has(line, ".py:")) return false;
  return (line_has(line, "\xe2\x94\x82") && line_has(line, " in ")) ||
         (line_has(line, "file ") && line_has(line, ", in "));
}

// `File "/env/site-packages/torch/a.py", line 3, in f` as `torch/a.py:3 (f)`; empty for other lines.
std::string frame_words(std::string_view text) {
  const std::size_t begin = text.find("File \"");
  if (begin == std::string_view::npos) return "";
  text.remove_prefix(begin + 6);
  const std::size_t end = text.find("\", line ");
  if (end == std::string_view::npos) return "";
  std::string_view path = text.substr(0, end);
  const auto line = integer_after(text, "\", line ");
  const std::size_t in = text.find(", in ", end);
  if (!line || in == std::string_view::npos) return "";
  const std::size_t package = path.find("-packages/");
  if (package != std::string_view::npos) path.remove_prefix(package + 10);
  return fmt::format("{}:{} ({})", path, *line, text.substr(in + 5));
}

// Whether a frame is an installed package's, Python's own, or of no file.
bool is_foreign(std::string_view line) {
  return line_has(line, "-packages/") || line_has(line, "/lib/python") || line_has(line, "\"<");
}

// The line of code that rich (`❱ 462 │`) and notebooks (`--> 462`) point to.
bool is_marked_code(std::string_view line) {
  return line_has(line, "\xe2\x9d\xb1 ") || line_has(line, "--> ");
}

}  // namespace

void Tracebacks::take(std::optional<int> rank, std::string_view text, std::string_view lower_case_line) {
  const bool code = wants_next_ && rank == last_rank_;
  wants_next_ = false;
  const bool frame = is_frame(lower_case_line);
  const bool start = lower_case_line.find("traceback (most recent call last)") != std::string_view::npos;
  const bool marked = is_marked_code(lower_case_line);
  if (!frame && !start && !code && !marked) return;
  const int key = rank.value_or(-1);
  if (frames_.size() >= k_most_tracebacks && !frames_.contains(key)) return;
  std::deque<std::string>& frames = frames_[key];
  RaisedAt& raised = raised_[key];
  if (start) {
    frames.clear();
    raised = {};
  }
  if (frame) {
    std::string words = frame_words(text.substr(0, k_longest_frame));
    if (!words.empty() && !is_foreign(lower_case_line)) raised.called_from = words;
    if (!words.empty()) raised.in = std::move(words);
  }
  if (!frame && !code && !marked) return;
  if (frames.size() >= k_most_frames) frames.pop_front();
  frames.push_back(in_lower_case(text.substr(0, k_longest_frame)));
  wants_next_ = frame;
  last_rank_ = rank;
}

std::optional<RaisedAt> Tracebacks::raised_at(std::optional<int> rank) const {
  const auto raised = raised_.find(rank.value_or(-1));
  if (raised == raised_.end() || raised->second.in.empty()) return std::nullopt;
  return raised->second;
}

bool Tracebacks::has_frame(std::optional<int> rank, const std::vector<std::string>& pieces) const {
  const auto frames = frames_.find(rank.value_or(-1));
  if (frames == frames_.end()) return false;
  return std::any_of(frames->second.begin(), frames->second.end(),
                     [&](const std::string& frame) { return matches(pieces, frame); });
}

}  // namespace shardlab
