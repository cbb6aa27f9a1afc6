#include "engine/base/text/line_edits.h"

#include <algorithm>
#include <cstddef>

namespace shardlab {
namespace {

// Shortest edit script (E. Myers, "An O(ND) difference algorithm and its variations", 1986). Empty when
// longer than the limit.
class EditScript {
 public:
  EditScript(const std::vector<std::string>& a, const std::vector<std::string>& b) : a_(a), b_(b) {}

  std::vector<LineEdit> find(int most) {
    const int longest = static_cast<int>(std::min(a_.size() + b_.size(), static_cast<std::size_t>(most)));
    std::vector<int> furthest(static_cast<std::size_t>(2 * longest + 3), 0);
    for (int d = 0; d <= longest; ++d) {
      rounds_.push_back(furthest);
      for (int k = -d; k <= d; k += 2) {
        const auto at = [&](int diagonal) -> int& {
          return furthest[static_cast<std::size_t>(diagonal + longest + 1)];
        };
        int x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
        while (matches(x, x - k)) ++x;
        at(k) = x;
        if (x >= size(a_) && x - k >= size(b_)) return trace_back(d, longest);
      }
    }
    return {};
  }

 private:
  static int size(const std::vector<std::string>& lines) { return static_cast<int>(lines.size()); }
  bool matches(int x, int y) const {
    return x < size(a_) && y < size(b_) && a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(y)];
  }

  std::vector<LineEdit> trace_back(int depth, int longest) const {
    std::vector<LineEdit> edits;
    int x = size(a_);
    int y = size(b_);
    for (int d = depth; d >= 0; --d) {
      const auto at = [&](int diagonal) {
        return rounds_[static_cast<std::size_t>(d)][static_cast<std::size_t>(diagonal + longest + 1)];
      };
      const int k = x - y;
      const int previous = k == -d || (k != d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
      const int from_x = d == 0 ? 0 : at(previous);
      const int from_y = d == 0 ? 0 : from_x - previous;
      while (x > from_x && y > from_y && matches(x - 1, y - 1)) {
        edits.push_back({LineEdit::Kind::kept, &a_[static_cast<std::size_t>(--x)]});
        --y;
      }
      if (d == 0) break;
      if (x == from_x) {
        edits.push_back({LineEdit::Kind::added, &b_[static_cast<std::size_t>(--y)]});
      } else {
        edits.push_back({LineEdit::Kind::removed, &a_[static_cast<std::size_t>(--x)]});
      }
    }
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  const std::vector<std::string>& a_;
  const std::vector<std::string>& b_;
  std::vector<std::vector<int>> rounds_;
};

}  // namespace

std::vector<LineEdit> line_edits(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after, int most) {
  return EditScript(before, after).find(most);
}

std::vector<bool> near_changes(const std::vector<LineEdit>& edits, std::size_t lines_around) {
  std::vector<bool> shown(edits.size(), false);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].kind == LineEdit::Kind::kept) continue;
    const std::size_t first = i < lines_around ? 0 : i - lines_around;
    for (std::size_t j = first; j < std::min(edits.size(), i + lines_around + 1); ++j) shown[j] = true;
  }
  return shown;
}

}  // namespace shardlab
