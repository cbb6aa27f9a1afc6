// The keys that another tool knows, with the types of their values: assets/formats, which tests/peers
// compares with the tools themselves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

// One of the types that a value may have.
struct KnownType {
  enum class Kind : std::uint8_t {
    boolean,
    integer,
    number,
    text,
    list,
    map,
    any,
    null,
    flag,
    section,
    word
  };

  Kind kind = Kind::any;
  std::optional<double> least, most;  // of an integer or a number, both included
  std::vector<std::string> words;     // of a word
  bool folded = false;                // in upper or lower case
  std::string section;                // whose keys the map has
};

struct KnownKey {
  std::string name;
  std::vector<KnownType> types;
  bool converts = false;  // a text or an integer that stands for another type is taken for it
};

struct KnownSection {
  std::string name;
  std::vector<KnownKey> keys;
  std::string prefix;                          // that a key may carry, or of `prefix_is_ours` may leave out
  bool prefix_is_ours = false;                 // `keys` are written with it
  bool folded = false;                         // words in upper or lower case
  bool lenient = false;                        // the tool says nothing about keys that it does not know
  bool drops_auto = false;                     // "auto" leaves the default, whatever the key
  std::map<std::string, std::string> aliases;  // other name -> name
  std::map<std::string, std::string> removed;  // key -> why the tool refuses it
  std::map<std::string, std::string> renamed;  // name, or name=word, of older versions -> "new name, since"
  std::map<std::string, std::string>
      unread;  // key that people write and the tool does not read -> what to do

  const KnownKey* find(std::string_view name) const;
  std::vector<std::string> names() const;
};

struct KnownKeys {
  std::string tool;
  std::string version;
  std::map<std::string, KnownSection, std::less<>> sections;

  const KnownSection& section(std::string_view name) const;  // which there must be
};

// "deepspeed", "accelerate", "transformers", "transformers-4", "torchrun". Read once; an error is a defect of
// the installation.
Result<const KnownKeys*> known_keys(std::string_view file);

// "an integer of 1 or more, or auto", for messages.
std::string expected(const KnownKey& key);

}  // namespace shardlab
