#include "engine/base/path_pattern.h"

#include <optional>

namespace shardlab {
namespace {

// The last star that was passed: where matching resumes when what follows it does not fit.
struct Star {
  std::string_view pattern;  // after the star
  std::string_view path;     // not yet taken by it
  bool crosses_dots;
};

}  // namespace

// Takes as little as possible for each star and lets a star take one character more on a mismatch. A `*` that
// would have to take a dot gives up, then the last `**` is asked, as only it can still move on.
bool matches_path(std::string_view pattern, std::string_view path) {
  std::optional<Star> name_star, path_star;
  for (;;) {
    if (pattern.starts_with('*')) {
      const bool crosses_dots = pattern.starts_with("**");
      pattern.remove_prefix(crosses_dots ? 2 : 1);
      (crosses_dots ? path_star : name_star) = Star{pattern, path, crosses_dots};
      if (crosses_dots) name_star.reset();
      continue;
    }
    if (pattern.empty() && path.empty()) return true;
    const bool fits =
        !pattern.empty() && !path.empty() && (pattern[0] == path[0] || (pattern[0] == '?' && path[0] != '.'));
    if (fits) {
      pattern.remove_prefix(1);
      path.remove_prefix(1);
      continue;
    }
    std::optional<Star>& star =
        name_star && !name_star->path.empty() && name_star->path[0] != '.' ? name_star : path_star;
    if (!star || star->path.empty()) return false;
    star->path.remove_prefix(1);
    pattern = star->pattern;
    path = star->path;
    if (star->crosses_dots) name_star.reset();
  }
}

}  // namespace shardlab
