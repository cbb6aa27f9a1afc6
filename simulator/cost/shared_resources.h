// What the instructions of one rank share while they run: a name for each resource of the event engine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/base/words.h"
#include "simulator/core/fair_shares.h"

namespace shardlab {

enum class SharedResource : std::uint8_t {
  multiprocessors,  // of the GPU
  memory,           // bandwidth of the GPU's memory
  node_link,        // to the GPUs of the same node or switch: NVLink, PCIe
  network,          // the rank's part of the node's network
  link_from_host,   // between the GPU and host memory, each direction
  link_to_host,
  drive,  // a rank's part of its node's
};
template <>
inline constexpr auto k_words<SharedResource> =
    std::to_array<Word<SharedResource>>({{SharedResource::multiprocessors, "multiprocessors"},
                                         {SharedResource::memory, "memory bandwidth"},
                                         {SharedResource::node_link, "link in the node"},
                                         {SharedResource::network, "network"},
                                         {SharedResource::link_from_host, "link from the host"},
                                         {SharedResource::link_to_host, "link to the host"},
                                         {SharedResource::drive, "drive"}});

inline constexpr std::size_t k_shared_resources = k_words<SharedResource>.size();

// What an instruction takes of them while it runs at full speed, without memory of its own.
class ResourceShares {
 public:
  // A part of the capacity; none is not noted, more than all is all.
  void add(SharedResource resource, double fraction) { note(resource, fraction, false); }
  // The same, taken however slowly the instruction goes.
  void hold(SharedResource resource, double fraction) { note(resource, fraction, true); }
  ResourceUses uses() const { return {uses_.data(), count_}; }
  // 0 where it takes none.
  double of(SharedResource resource) const {
    for (const ResourceUse& use : uses()) {
      if (use.resource == static_cast<std::uint32_t>(resource))
        return static_cast<double>(use.share) / static_cast<double>(k_full_share);
    }
    return 0;
  }

 private:
  void note(SharedResource resource, double fraction, bool held) {
    if (fraction > 0)
      uses_[count_++] = {static_cast<std::uint32_t>(resource), resource_share(fraction), held};
  }

  std::array<ResourceUse, k_shared_resources> uses_;
  std::size_t count_ = 0;
};

}  // namespace shardlab
