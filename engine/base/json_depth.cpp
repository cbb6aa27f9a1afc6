#include "engine/base/json_depth.h"

namespace shardlab {

bool is_json_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"': quoted = !quoted; break;
      case '\\': at += quoted ? 1 : 0; break;
      case '[':
      case '{':
        if (!quoted && ++depth > k_deepest_json) return true;
        break;
      case ']':
      case '}': depth -= quoted ? 0 : 1; break;
      default: break;
    }
  }
  return false;
}

}  // namespace shardlab
