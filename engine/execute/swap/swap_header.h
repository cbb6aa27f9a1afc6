// The first page of a file in swap: whose bytes follow, and what they must be. Pure functions.
//
// A header is written after its data, so that a write that was interrupted leaves none, or the one of other
// data, whose checksum differs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/units.h"
#include "engine/execute/swap/aligned_memory.h"

namespace shardlab {

struct SwapHeader {
  std::string run;  // is_swap_run()
  int rank = 0;
  std::string name;            // is_swap_name()
  std::int64_t step = 0;       // of the training, in which the data were written
  Bytes bytes;                 // of the data, which begin after this page
  std::uint64_t checksum = 0;  // XXH3, 64 bits, of the data

  friend bool operator==(const SwapHeader&, const SwapHeader&) = default;
};

using SwapPage = std::array<std::byte, static_cast<std::size_t>(k_swap_page)>;

// Letters, digits, '_' and '-', at most 128: part of a folder's name.
bool is_swap_run(std::string_view run);
inline constexpr const char* k_wrong_swap_run =
    "a run's name has letters, digits, '_' and '-', 1 to 128 in all";
// Letters, digits, '_', '.' and '-', at most 200, and no '.' in front: the name of a file.
bool is_swap_name(std::string_view name);
inline constexpr const char* k_wrong_swap_name =
    "a file's name has letters, digits, '_', '.' and '-', 1 to 200 in all, and no '.' in front";

// Little-endian, and whatever the header does not fill is zero. The run and the name must be such as above.
SwapPage encode_swap_header(const SwapHeader& header);

// What a page says, or why it says nothing: as words after the name of a file, "has no header: ...".
struct DecodedSwapHeader {
  std::optional<SwapHeader> header;
  std::string problem;
};
DecodedSwapHeader decode_swap_header(std::span<const std::byte, static_cast<std::size_t>(k_swap_page)> page);

// What is found but was not expected, the checksums aside: "was written by another run (X)". Nothing where
// both are about the same bytes.
std::optional<std::string> swap_header_difference(const SwapHeader& found, const SwapHeader& expected);

}  // namespace shardlab
