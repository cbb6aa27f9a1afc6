#include "engine/doctor/log/traceback.h"

#include <algorithm>

#include "engine/base/lower_case.h"
#include "engine/doctor/log/sign_pattern.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_frames = 48;
constexpr std::size_t k_longest_frame = 200;
constexpr std::size_t k_most_tracebacks = 4096;

}  // namespace

void Tracebacks::take(std::optional<int> rank, std::string_view text, std::string_view lower_case_line) {
  const bool code = wants_next_ && rank == last_rank_;
  wants_next_ = false;
  // Python's `File "x.py", line 3, in f`, and rich's `x.py:3 in f`.
  const bool frame = lower_case_line.find("file \"") != std::string_view::npos ||
                     (lower_case_line.find("\xe2\x94\x82") != std::string_view::npos &&
                      lower_case_line.find(".py:") != std::string_view::npos &&
                      lower_case_line.find(" in ") != std::string_view::npos);
  const bool start = lower_case_line.find("traceback (most recent call last)") != std::string_view::npos;
  if (!frame && !start && !code) return;
  const int key = rank.value_or(-1);
  if (frames_.size() >= k_most_tracebacks && !frames_.contains(key)) return;
  std::deque<std::string>& frames = frames_[key];
  if (start) frames.clear();
  if (!frame && !code) return;
  if (frames.size() >= k_most_frames) frames.pop_front();
  frames.push_back(in_lower_case(text.substr(0, k_longest_frame)));
  wants_next_ = frame;
  last_rank_ = rank;
}

bool Tracebacks::has_frame(std::optional<int> rank, const std::vector<std::string>& pieces) const {
  const auto frames = frames_.find(rank.value_or(-1));
  if (frames == frames_.end()) return false;
  return std::any_of(frames->second.begin(), frames->second.end(),
                     [&](const std::string& frame) { return matches(pieces, frame); });
}

}  // namespace shardlab
