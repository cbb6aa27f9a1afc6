#include "engine/execute/swap/swap_header.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <xxhash.h>

namespace shardlab {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are little-endian");

constexpr std::array<char, 8> k_swap_magic = {'s', 'h', 'l', 'b', 's', 'w', 'a', 'p'};
constexpr std::uint32_t k_swap_version = 1;
constexpr std::size_t k_longest_run = 128;
constexpr std::size_t k_longest_name = 200;

// As it lies on the drive; the checksum is of everything before it.
struct StoredSwapHeader {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::int32_t rank;
  std::int64_t step;
  std::int64_t bytes;
  std::uint64_t data_checksum;
  std::array<char, 256> run;  // ends with zeros, as does the name
  std::array<char, 256> name;
  std::array<char, 4096 - 40 - 512 - 8> unused;
  std::uint64_t own_checksum;
};
static_assert(sizeof(StoredSwapHeader) == sizeof(SwapPage));
static_assert(std::is_trivially_copyable_v<StoredSwapHeader>);

std::uint64_t checksum_of(const StoredSwapHeader& stored) {
  return XXH3_64bits(&stored, offsetof(StoredSwapHeader, own_checksum));
}

bool has_only(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

std::string text_in(const std::array<char, 256>& field) {
  return {field.begin(), std::find(field.begin(), field.end(), '\0')};
}

}  // namespace

bool is_swap_run(std::string_view run) {
  return !run.empty() && run.size() <= k_longest_run && has_only(run, "_-");
}

bool is_swap_name(std::string_view name) {
  return !name.empty() && name.size() <= k_longest_name && name.front() != '.' && has_only(name, "_.-");
}

SwapPage encode_swap_header(const SwapHeader& header) {
  StoredSwapHeader stored{};
  stored.magic = k_swap_magic;
  stored.version = k_swap_version;
  stored.rank = header.rank;
  stored.step = header.step;
  stored.bytes = header.bytes.value;
  stored.data_checksum = header.checksum;
  std::copy_n(header.run.begin(), std::min(header.run.size(), k_longest_run), stored.run.begin());
  std::copy_n(header.name.begin(), std::min(header.name.size(), k_longest_name), stored.name.begin());
  stored.own_checksum = checksum_of(stored);
  return std::bit_cast<SwapPage>(stored);
}

DecodedSwapHeader decode_swap_header(std::span<const std::byte, static_cast<std::size_t>(k_swap_page)> page) {
  StoredSwapHeader stored{};
  std::memcpy(&stored, page.data(), page.size());
  if (std::all_of(page.begin(), page.end(), [](std::byte byte) { return byte == std::byte{0}; }))
    return {{}, "has no header: it was never written, or not to its end"};
  if (stored.magic != k_swap_magic)
    return {{}, "has a header that is not shardlab's: another program wrote it"};
  if (stored.own_checksum != checksum_of(stored))
    return {{}, "has a header whose checksum differs: the drive or another program changed it"};
  if (stored.version != k_swap_version)
    return {{},
            fmt::format("was written by another shardlab: its header is of version {}, not {}",
                        stored.version, k_swap_version)};
  SwapHeader header{text_in(stored.run), stored.rank,    text_in(stored.name),
                    stored.step,         {stored.bytes}, stored.data_checksum};
  // The checksum is no secret: what is shown to people must be harmless all the same.
  if (!is_swap_run(header.run) || !is_swap_name(header.name) || header.bytes.value < 0)
    return {{}, "has a header that no shardlab writes"};
  return {std::move(header), {}};
}

std::optional<std::string> swap_header_difference(const SwapHeader& found, const SwapHeader& expected) {
  if (found.run != expected.run) return fmt::format("was written by another run ({})", found.run);
  if (found.rank != expected.rank)
    return fmt::format("was written by rank {}, not by rank {}", found.rank, expected.rank);
  if (found.name != expected.name) return fmt::format("was written as another file ({})", found.name);
  if (found.bytes != expected.bytes)
    return fmt::format("has {} bytes of data, and {} were asked for", found.bytes.value,
                       expected.bytes.value);
  if (found.step != expected.step)
    return fmt::format("holds the data of step {}, and those of step {} were written last", found.step,
                       expected.step);
  return std::nullopt;
}

}  // namespace shardlab
