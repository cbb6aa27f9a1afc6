// Stable 128-bit hash (XXH3) as 32 hexadecimal digits: the same text gives the same hash on every machine and
// in every release.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardlab {

std::string hash_hex(std::string_view text);

// 64-bit FNV-1a, the start of the per-tensor random sequence of initial weights (see
// model/initial_weights.h).
std::uint64_t fnv1a_64(std::string_view text);

// One output of the splitmix64 generator for the given state.
std::uint64_t splitmix64(std::uint64_t state);

}  // namespace shardlab
