// What differs between two versions of a text, as one piece of whole lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardlab {

// Lines [begin, end) of the old text, from 1, in whose place `text` stands in the new one; an empty range
// where lines are only added, an empty text where they are only taken out.
struct ChangedLines {
  std::int64_t begin = 1, end = 1;
  std::string text;
};

// The smallest such piece.
ChangedLines changed_lines(std::string_view before, std::string_view after);

}  // namespace shardlab
