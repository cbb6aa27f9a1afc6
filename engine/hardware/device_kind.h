// What a rank computes on.
#pragma once

#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

enum class DeviceKind : std::uint8_t { cpu, gpu };
template <>
inline constexpr auto k_words<DeviceKind> = std::to_array<Word<DeviceKind>>({{DeviceKind::cpu, "cpu"},
                                                                             {DeviceKind::gpu, "gpu"}});

}  // namespace shardlab
