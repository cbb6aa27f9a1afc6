#include "simulator/memory/caching_allocator/allocator_options.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/base/nearest.h"

namespace shardlab {
namespace {

// An option and the tokens of its value: one, or a list with its brackets.
struct Option {
  std::string name;
  std::vector<std::string> value;
};

// Torch's tokens: names, values, and the four signs; blanks are nothing.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  bool open = false;  // whether the last token goes on
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
    const bool sign = c == ',' || c == ':' || c == '[' || c == ']';
    if (sign || !open) tokens.emplace_back();
    tokens.back() += c;
    open = !sign;
  }
  return tokens;
}

struct Cursor {
  const std::vector<std::string>& tokens;
  std::size_t at = 0;

  bool end() const { return at >= tokens.size(); }
  std::string_view peek() const { return end() ? std::string_view() : std::string_view(tokens[at]); }
  std::string_view next() { return end() ? std::string_view() : std::string_view(tokens[at++]); }
  bool skip(std::string_view token) {
    if (peek() != token) return false;
    ++at;
    return true;
  }
};

template <typename Number>
Result<Number> number(std::string_view option, std::string_view token) {
  Number value{};
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size())
    return bad_input(std::string(option), fmt::format("'{}' is no number", token));
  return value;
}

// Mebibytes, at least so many.
Result<Bytes> mebibytes_from(std::string_view option, Cursor& cursor, std::int64_t least,
                             std::string_view why) {
  constexpr std::uint64_t k_most = (std::uint64_t{1} << 43U) - 1;  // what a number of bytes can hold
  SHARDLAB_TRY(const auto value, number<std::uint64_t>(option, cursor.next()));
  if (value < static_cast<std::uint64_t>(least))
    return bad_input(std::string(option), fmt::format("{} is too small: at least {}{}", value, least, why));
  return mebibytes(static_cast<std::int64_t>(std::min(value, k_most)));
}

Result<double> fraction(std::string_view option, Cursor& cursor, bool open_interval) {
  const std::string_view token = cursor.next();
  SHARDLAB_TRY(const double value, number<double>(option, token));
  const bool good = open_interval ? value > 0 && value < 1 : value >= 0 && value <= 1;
  if (!good)
    return bad_input(std::string(option),
                     fmt::format("'{}' is not {}", token, open_interval ? "between 0 and 1" : "from 0 to 1"));
  return value;
}

Result<bool> boolean(std::string_view option, Cursor& cursor) {
  const std::string_view token = cursor.next();
  if (token == "True" || token == "False") return token == "True";
  return bad_input(std::string(option), fmt::format("'{}' is neither True nor False", token));
}

constexpr std::string_view k_divisions = "roundup_power2_divisions";
constexpr std::string_view k_segment_size = "large_segment_size_mb";

Result<std::int64_t> divisions(std::string_view token, bool may_be_none) {
  SHARDLAB_TRY(const auto value, number<std::uint32_t>(k_divisions, token));
  if (std::has_single_bit(value) || (value == 0 && may_be_none)) return value;
  return bad_input(std::string(k_divisions), fmt::format("{} divisions: only a power of two{}", value,
                                                         may_be_none ? ", or 0 for none" : ""));
}

// Torch takes the boundary, in mebibytes, by its place among the powers of two; the last place is 32768 and
// above.
Result<std::size_t> interval(std::string_view token) {
  SHARDLAB_TRY(const auto boundary, number<std::uint64_t>(k_divisions, token));
  if (!std::has_single_bit(boundary))
    return bad_input(std::string(k_divisions), fmt::format("interval {}: only a power of two", boundary));
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(boundary)) - 1, 15);
}

// "[256:1,512:2,>:8]": what stands before the first boundary has its divisions; `>` is everything after the
// last one.
Status read_division_list(Cursor& cursor, AllocatorOptions& options) {
  auto& all = options.roundup_divisions;
  bool first = true;
  std::size_t last = 0;
  if (cursor.tokens.back() != "]")
    return bad_input(std::string(k_divisions), "the list has no end", "close it by ]");
  while (!cursor.skip("]")) {
    const std::string_view boundary = cursor.next();
    if (!cursor.skip(":"))
      return bad_input(std::string(k_divisions), fmt::format("no ':' behind the interval '{}'", boundary));
    SHARDLAB_TRY(const std::int64_t value, divisions(cursor.next(), /*may_be_none=*/true));
    if (boundary == ">") {
      std::fill(all.begin() + static_cast<std::ptrdiff_t>(last + 1), all.end(), value);
    } else {
      SHARDLAB_TRY(last, interval(boundary));
      if (std::exchange(first, false))
        std::fill(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(last), value);
      all[last] = value;
    }
    if (cursor.peek() != "]" && !cursor.skip(","))
      return bad_input(std::string(k_divisions),
                       fmt::format("'{}' where ',' or ']' is expected", cursor.peek()));
  }
  return {};
}

Status read_divisions(Cursor& cursor, AllocatorOptions& options) {
  if (cursor.skip("[")) return read_division_list(cursor, options);
  SHARDLAB_TRY(const std::int64_t value, divisions(cursor.next(), /*may_be_none=*/false));
  options.roundup_divisions.fill(value);
  return {};
}

const std::vector<std::string> k_modelled = {"max_split_size_mb",
                                             "max_non_split_rounding_mb",
                                             "large_segment_size_mb",
                                             "roundup_power2_divisions",
                                             "garbage_collection_threshold",
                                             "per_process_memory_fraction",
                                             "expandable_segments",
                                             "backend"};
const std::vector<std::string> k_other = {"release_lock_on_cudamalloc",    "release_lock_on_hipmalloc",
                                          "pinned_use_cuda_host_register", "pinned_use_hip_host_register",
                                          "pinned_num_register_threads",   "pinned_use_background_threads",
                                          "pinned_reserve_segment_size_mb"};

tl::unexpected<Error> refused(std::string_view option) {
  const std::string name(option);
  if (name == "graph_capture_record_stream_reuse")
    return bad_input(name, "not modelled: CUDA graphs have pools of their own");
  if (std::find(k_other.begin(), k_other.end(), name) != k_other.end())
    return bad_input(name, "not modelled", "it does not decide where device memory lies: leave it out");
  return bad_input(name, "no option of torch's allocator", suggestion(name, k_modelled));
}

Status read_option(const Option& option, AllocatorOptions& options) {
  const std::string& name = option.name;
  Cursor cursor{option.value};
  const std::int64_t segment = options.large_segment_size.value >> 20;
  if (name == "max_split_size_mb") {
    SHARDLAB_TRY(options.max_split_size, mebibytes_from(name, cursor, segment, ", a large segment"));
  } else if (name == "max_non_split_rounding_mb") {
    SHARDLAB_TRY(options.max_non_split_rounding, mebibytes_from(name, cursor, segment, ", a large segment"));
  } else if (name == k_segment_size) {
    SHARDLAB_TRY(options.large_segment_size, mebibytes_from(name, cursor, 11, ""));
    options.max_non_split_rounding = options.large_segment_size;
  } else if (name == "garbage_collection_threshold") {
    SHARDLAB_TRY(options.garbage_collection_threshold, fraction(name, cursor, /*open_interval=*/true));
  } else if (name == "per_process_memory_fraction") {
    SHARDLAB_TRY(options.per_process_memory_fraction, fraction(name, cursor, /*open_interval=*/false));
  } else if (name == "expandable_segments") {
    SHARDLAB_TRY(options.expandable_segments, boolean(name, cursor));
  } else if (name == k_divisions) {
    return read_divisions(cursor, options);
  } else if (name == "backend") {
    if (cursor.peek() != "native")
      return bad_input(name, fmt::format("'{}' is not modelled: only native", cursor.peek()));
  } else {
    return refused(name);
  }
  return {};
}

Result<std::vector<Option>> options_of(const std::vector<std::string>& tokens) {
  std::vector<Option> options;
  Cursor cursor{tokens};
  while (!cursor.end()) {
    Option option{std::string(cursor.next()), {}};
    if (!cursor.skip(":") || cursor.end())
      return bad_input(option.name, "an option without a value", "options are written name:value,name:value");
    option.value.emplace_back(cursor.next());
    while (option.value.front() == "[" && option.value.back() != "]" && !cursor.end())
      option.value.emplace_back(cursor.next());
    if (!cursor.end() && !cursor.skip(","))
      return bad_input(option.name, fmt::format("'{}' behind its value", cursor.peek()));
    options.push_back(std::move(option));
  }
  return options;
}

}  // namespace

// The size of a segment comes first, wherever it stands: the others are measured by it.
Result<AllocatorOptions> parse_allocator_options(std::string_view text) {
  SHARDLAB_TRY(const std::vector<Option> given, options_of(tokens_of(text)));
  AllocatorOptions options;
  for (const bool first : {true, false})
    for (const Option& option : given)
      if ((option.name == k_segment_size) == first) SHARDLAB_CHECK_OK(read_option(option, options));
  return options;
}

}  // namespace shardlab
