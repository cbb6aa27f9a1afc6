// How lines of one text become those of another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlab {

struct LineEdit {
  enum class Kind : std::uint8_t { kept, removed, added };
  Kind kind = Kind::kept;
  const std::string* line = nullptr;  // of the first text, or, where it is added, of the second
};

// The fewest lines removed and added, in the order of the texts, which must outlive what is returned. Empty
// where that takes more than `most` of them, and where neither text has a line.
std::vector<LineEdit> line_edits(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after, int most);

// Which of the edits are shown: those that change something, and so many lines around each.
std::vector<bool> near_changes(const std::vector<LineEdit>& edits, std::size_t lines_around);

}  // namespace shardlab
