// What becomes of a unit's gathered parameters after forward, as fully_shard's option of that name says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/words.h"

namespace shardlab {

enum class ReshardKind : std::uint8_t {
  always,
  never,
  by_place,  // always, for the root never
  to_ranks,  // spread over groups of that many ranks; has no word: it is written as their number
};
template <>
inline constexpr auto k_words<ReshardKind> = std::to_array<Word<ReshardKind>>(
    {{ReshardKind::always, "true"}, {ReshardKind::never, "false"}, {ReshardKind::by_place, "default"}});

struct ReshardAfterForward {
  ReshardKind kind = ReshardKind::by_place;
  int ranks = 0;  // to_ranks: 2 to k_most_ranks

  static constexpr int k_most_ranks = 1 << 20;
  // Whether a unit gives its gathered parameters back.
  constexpr bool frees(bool is_root) const {
    return kind == ReshardKind::by_place ? !is_root : kind != ReshardKind::never;
  }
  friend bool operator==(const ReshardAfterForward&, const ReshardAfterForward&) = default;
};

// "true", "false", "default", "4".
std::string to_text(const ReshardAfterForward& reshard);
// The same, and true and false in the spellings of YAML. Nothing for other words and numbers out of range.
std::optional<ReshardAfterForward> parse_reshard_after_forward(std::string_view text);

}  // namespace shardlab
