#include "engine/model/reshard_after_forward.h"

#include "engine/base/parse.h"

namespace shardlab {

std::string to_text(const ReshardAfterForward& reshard) {
  if (reshard.kind == ReshardKind::to_ranks) return std::to_string(reshard.ranks);
  return std::string(to_string(reshard.kind));
}

std::optional<ReshardAfterForward> parse_reshard_after_forward(std::string_view text) {
  if (const auto kind = parse_word<ReshardKind>(text)) return ReshardAfterForward{*kind};
  if (const auto value = parse_boolean(text))
    return ReshardAfterForward{*value ? ReshardKind::always : ReshardKind::never};
  const auto ranks = parse_integer(text);
  if (!ranks || *ranks < 2 || *ranks > ReshardAfterForward::k_most_ranks) return std::nullopt;
  return ReshardAfterForward{ReshardKind::to_ranks, static_cast<int>(*ranks)};
}

}  // namespace shardlab
