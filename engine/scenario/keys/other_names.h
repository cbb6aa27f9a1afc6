// What people of other tools write where a scenario has a key or a word of its own, for hints.
//
// Names of accelerate 1.15, transformers 5.23, DeepSpeed 0.19, torchtitan and torchtune, and what people say.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab {

struct OtherName {
  std::string_view theirs;  // in lower case, `_` for `-`
  std::string_view ours;    // the path of a key or a section; or a word
};
std::span<const OtherName> other_key_names();

// The paths that a key may have meant that its section does not have: those by which another tool's name goes
// here (two where it is the product of both), and those of keys and sections whose last name it is. Empty:
// none is known.
std::vector<std::string> meant_keys(std::string_view key);

// The word of ours that another tool's may have meant, of those that are known at its place; empty: none.
std::string meant_word(std::string_view text, const std::vector<std::string>& known);

// What to set in the place of another tool's dtype that no tensor is stored or gathered in; empty: none is
// known.
std::string setting_instead(std::string_view dtype);

}  // namespace shardlab
