// The escape sequences that this program writes to a terminal. No others reach it (printable.h).
#pragma once

#include <array>
#include <string_view>

namespace shardlab::colours {

inline constexpr std::string_view k_off = "\x1b[0m";
inline constexpr std::string_view k_strong = "\x1b[1m";
inline constexpr std::string_view k_weak = "\x1b[2m";
inline constexpr std::string_view k_red = "\x1b[31m";
inline constexpr std::string_view k_green = "\x1b[32m";
inline constexpr std::string_view k_yellow = "\x1b[33m";

inline constexpr std::array k_all = {k_off, k_strong, k_weak, k_red, k_green, k_yellow};

}  // namespace shardlab::colours
