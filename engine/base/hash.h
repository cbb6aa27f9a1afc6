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

// One output of the splitmix64 generator (Steele, Lea, Flood 2014) for the given state, and what it adds to
// the state before each.
std::uint64_t splitmix64(std::uint64_t state);
inline constexpr std::uint64_t k_splitmix_step = 0x9E3779B97F4A7C15ULL;

}  // namespace shardlab
