// The known name nearest to a misspelled one, for "did you mean" hints.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shardlab {

// The nearest by edit distance, of equally near ones of one length the last; none when even that differs in
// more than about a third of its characters.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> known);

// The nearest that differs in two characters at most, for names among which others may be in order.
std::optional<std::string> misspelt_name(std::string_view name, std::span<const std::string> known);

// "did you mean 'x'?", where a known name and more stand around a colon that a space is missing after it, or,
// without a near one, "known: a, b, c".
std::string suggestion(std::string_view name, std::span<const std::string> known);

}  // namespace shardlab
