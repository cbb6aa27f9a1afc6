// The units that parse.h knows, with their sizes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace shardlab {

struct UnitName {
  std::string_view name;
  std::int64_t size;
};

inline constexpr std::array<UnitName, 9> k_counts{{{"k", 1000},
                                                   {"M", 1'000'000},
                                                   {"G", 1'000'000'000},
                                                   {"B", 1'000'000'000},
                                                   {"T", 1'000'000'000'000},
                                                   {"Ki", 1 << 10},
                                                   {"Mi", 1 << 20},
                                                   {"Gi", 1 << 30},
                                                   {"Ti", std::int64_t{1} << 40}}};
// The first of each size is the one that formatting uses.
inline constexpr std::array<UnitName, 11> k_sizes{{{"TiB", std::int64_t{1} << 40},
                                                   {"TB", 1'000'000'000'000},
                                                   {"GiB", 1 << 30},
                                                   {"GB", 1'000'000'000},
                                                   {"MiB", 1 << 20},
                                                   {"MB", 1'000'000},
                                                   {"KiB", 1 << 10},
                                                   {"KB", 1000},
                                                   {"kB", 1000},
                                                   {"B", 1},
                                                   {"", 1}}};
inline constexpr std::array<UnitName, 6> k_times{{{"h", 3'600'000'000'000},
                                                  {"min", 60'000'000'000},
                                                  {"s", 1'000'000'000},
                                                  {"ms", 1'000'000},
                                                  {"us", 1000},
                                                  {"ns", 1}}};

}  // namespace shardlab
