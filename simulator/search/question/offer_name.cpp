#include <string>

#include <fmt/format.h>

#include "simulator/search/question/search_question.h"

namespace shardlab {

std::string offer_name(const Offer& offer) {
  const std::string node =
      offer.described ? fmt::format("{} x {}", offer.gpus_per_node, offer.node) : offer.node;
  return offer.interruptions ? node + " (spot)" : node;
}

std::string network_setting(const Offer& offer) {
  return offer.network ? fmt::format("cluster.inter_node_gbps_per_gpu={}", *offer.network) : std::string();
}

}  // namespace shardlab
