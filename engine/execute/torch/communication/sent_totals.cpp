#include "engine/execute/torch/communication/sent_totals.h"

namespace shardlab {

SentTotals sent_so_far(const Communicators& communicators) {
  SentTotals totals;
  for (const auto& [ranks, communicator] : communicators) {
    if (!communicator) continue;
    for (const auto& [kind, sent] : communicator->sent()) {
      Sent& total = totals[{kind, communicator->size()}];
      total.operations += sent.operations;
      total.bytes += sent.bytes;
    }
  }
  return totals;
}

std::vector<SentInStep> sent_between(const SentTotals& before, const SentTotals& after) {
  std::vector<SentInStep> sent;
  for (const auto& [key, total] : after) {
    const auto known = before.find(key);
    const Sent earlier = known == before.end() ? Sent{} : known->second;
    if (total.operations == earlier.operations) continue;
    sent.push_back(
        {key.first, key.second, total.operations - earlier.operations, total.bytes - earlier.bytes});
  }
  return sent;
}

}  // namespace shardlab
