// Groups: which ranks take part in a collective, as a plan says it for all ranks at once.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/words.h"

namespace shardlab {

// Along which dimension of the mesh the members lie; `ranks` where only their number is known (imported
// traces).
enum class GroupDimension : std::uint8_t { world, replicate, shard, tensor, expert, ranks };
template <>
inline constexpr auto k_words<GroupDimension> =
    std::to_array<Word<GroupDimension>>({{GroupDimension::world, "world"},
                                         {GroupDimension::replicate, "replicate"},
                                         {GroupDimension::shard, "shard"},
                                         {GroupDimension::tensor, "tensor"},
                                         {GroupDimension::expert, "expert"},
                                         {GroupDimension::ranks, "ranks"}});

// A set of ranks as a mesh expression.
struct RankSet {
  GroupDimension dimension = GroupDimension::world;
  int part = 0;           // neighbouring ranks of the dimension that belong together; 0: all of it
  bool teachers = false;  // of the teacher's mesh, where that is another one than the student's
  bool across = false;    // not the ranks of one part but one of each, those at the same place in theirs
  friend auto operator<=>(const RankSet&, const RankSet&) = default;
};

// "shard", "replicate", "world", "shard/2" (parts of 2), "shard:2" (across such parts), "teacher.shard",
// "ranks_8".
std::string to_text(const RankSet& ranks);
// Nothing for what to_text does not write.
std::optional<RankSet> parse_rank_set(std::string_view text);

struct Group {
  RankSet ranks;
  int size = 1;
  friend bool operator==(const Group&, const Group&) = default;
};

}  // namespace shardlab
