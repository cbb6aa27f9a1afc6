// Names with their values, as Python prints a dictionary of numbers. Private to this folder.
#pragma once

#include <functional>
#include <string_view>

namespace shardlab {

// Calls take(name, number) for every name whose value is a number, in quotes or not: transformers writes
// `{'loss': 2.1, 'epoch': 0.01}` until version 4 and `{'loss': '2.1', 'epoch': '0.01'}` since. `text` begins
// with the brace; what is no number is passed over. Returns whether any was taken.
bool visit_logged_pairs(std::string_view text, const std::function<void(std::string_view, double)>& take);

}  // namespace shardlab
