#include "simulator/memory/replay/live_at_peak.h"

#include <algorithm>
#include <tuple>

namespace shardlab {
namespace {

// The call that allocated a block which the program has, by block; null for the others.
std::vector<const RecordedCall*> live_calls(const AllocatorRecording& recording, std::size_t calls,
                                            const std::vector<bool>& failed) {
  std::vector<const RecordedCall*> live(recording.blocks, nullptr);
  for (std::size_t i = 0; i < calls; ++i) {
    const RecordedCall& call = recording.calls[i];
    if (call.kind == RecordedKind::malloc && !failed[call.block]) live[call.block] = &call;
    if (call.kind == RecordedKind::free || call.kind == RecordedKind::free_in_use) live[call.block] = nullptr;
  }
  return live;
}

}  // namespace

LiveBlocks live_after(const AllocatorRecording& recording, std::size_t calls,
                      const std::vector<bool>& failed) {
  LiveBlocks all;
  if (calls > 0) all.operation = recording.calls[calls - 1].operation;
  std::vector<BlocksOfOrigin> origins(recording.origins.size());
  for (const RecordedCall* call : live_calls(recording, calls, failed)) {
    if (call == nullptr) continue;
    all.bytes += call->size;
    ++all.blocks;
    if (origins.empty()) continue;
    origins[call->origin].bytes += call->size;
    ++origins[call->origin].blocks;
  }
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (origins[i].blocks == 0) continue;
    origins[i].where = recording.origins[i];
    all.by_origin.push_back(std::move(origins[i]));
  }
  std::sort(all.by_origin.begin(), all.by_origin.end(), [](const BlocksOfOrigin& a, const BlocksOfOrigin& b) {
    return std::tie(b.bytes, a.where) < std::tie(a.bytes, b.where);
  });
  return all;
}

}  // namespace shardlab
