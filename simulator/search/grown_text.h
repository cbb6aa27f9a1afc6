// A text whose numbers go on as they did. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardlab {

// From "9 Backward mb2" to "12 Backward mb3", two steps further: "18 Backward mb5". None where the texts
// differ in more than their whole numbers, or a number would fall below zero.
std::optional<std::string> grown_text(std::string_view before, std::string_view after, std::int64_t steps);

}  // namespace shardlab
