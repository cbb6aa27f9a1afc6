// What a rank computes on.
#pragma once

#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

enum class DeviceKind : std::uint8_t { cpu, gpu };
template <>
inline constexpr auto k_words<DeviceKind> = std::to_array<Word<DeviceKind>>({{DeviceKind::cpu, "cpu"},
                                                                             {DeviceKind::gpu, "gpu"}});

// How GPUs of a node reach each other's memory. `host`: not at all, what they send crosses the host's.
enum class GpuLinks : std::uint8_t { none, nvlink, pcie, host };
template <>
inline constexpr auto k_words<GpuLinks> = std::to_array<Word<GpuLinks>>({{GpuLinks::none, "none"},
                                                                         {GpuLinks::nvlink, "nvlink"},
                                                                         {GpuLinks::pcie, "pcie"},
                                                                         {GpuLinks::host, "host"}});

}  // namespace shardlab
