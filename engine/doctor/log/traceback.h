// The frames of the tracebacks that ranks print, line by line between each other's. Private to this folder.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab {

// Where the traceback that a rank prints ends.
struct RaisedAt {
  std::string in;           // `torch/optim/adam.py:12 (step)`, the innermost frame
  std::string called_from;  // the innermost frame outside of installed packages; empty where there is none
};

// Keeps the last frames of each rank (`File "x.py", line 3, in f`, and the code below), at most of 4,096
// ranks.
class Tracebacks {
 public:
  // Whether the line after a frame is awaited: the code of the frame.
  bool wants_next() const { return wants_next_; }

  // A line, without and with its prefixes; the second in lower case.
  void take(std::optional<int> rank, std::string_view text, std::string_view lower_case_line);

  // Whether a frame of the rank's traceback holds the pieces (sign_pattern.h).
  bool has_frame(std::optional<int> rank, const std::vector<std::string>& pieces) const;

  // Nothing where the rank has printed no frame of Python's own form.
  std::optional<RaisedAt> raised_at(std::optional<int> rank) const;

 private:
  std::map<int, RaisedAt> raised_;                 // by rank, as frames_
  std::map<int, std::deque<std::string>> frames_;  // -1: lines without a rank
  std::optional<int> last_rank_;
  bool wants_next_ = false;
};

}  // namespace shardlab
