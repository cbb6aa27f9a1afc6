// Random damage to a text. The same engine in the same state does the same.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace shardlab::test {

// One to four pieces of damage: bytes flipped, cut, doubled, moved, numbers and words replaced by ones that
// are seldom expected, a piece of another text of the kind, an end too early, deep nesting, broken UTF-8.
// `others`: not empty.
std::string mutated(std::string text, const std::vector<std::string>& others, std::mt19937_64& engine);

}  // namespace shardlab::test
