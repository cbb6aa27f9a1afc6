// A section of a scenario as a table of keys.
//
// One row binds the name of a key to a member of the section's struct, the kind of its value and a line of
// help. Reading, writing, the reference text and the check for settings without effect all go through the
// same table. A row does not know the type of its section (key_row.h); the templates here, which make rows
// and hand them sections, do, and keep the two together.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/boxed.h"
#include "engine/base/yaml.h"
#include "engine/scenario/keys/key_row.h"
#include "engine/scenario/keys/kind.h"
#include "engine/scenario/problems.h"
#include "engine/scenario/source.h"

namespace shardlab {

// A row about a section of type T.
template <typename T>
struct Key {
  KeyRow row;
};

// A section as the defaults make it.
template <typename T>
const T& default_section() {
  static const T section{};
  return section;
}

template <typename T>
class Keys {
 public:
  Keys() { table_.defaults = &default_section<T>(); }
  Keys(std::initializer_list<Key<T>> keys) : Keys() {
    for (const Key<T>& each : keys) add(each);
  }
  void add(const Key<T>& key) { table_.rows.push_back(key.row); }
  const KeyTable& table() const { return table_; }

 private:
  KeyTable table_;
};

// --- a section
// ---------------------------------------------------------------------------------------------------------

template <typename T>
void read_section(const Keys<T>& keys, const YamlNode& node, const std::string& path, T& value,
                  Reading& reading) {
  read_rows(keys.table(), node, path, &value, reading);
}

// What differs from `base`; nothing when they are equal.
template <typename T>
std::optional<YamlNode> write_section(const Keys<T>& keys, const T& value, const T& base) {
  return write_rows(keys.table(), &value, &base);
}

// Settings that differ from their default but have no effect beside the values of other keys.
template <typename T>
void check_section(const Keys<T>& keys, const T& value, const std::string& path, const ScenarioSource& source,
                   Problems& problems) {
  check_rows(keys.table(), &value, path, source, problems);
}

template <typename T>
void describe_section(const Keys<T>& keys, const std::string& path, std::vector<KeyLine>& lines) {
  describe_rows(keys.table(), path, lines);
}

// --- rows
// ---------------------------------------------------------------------------------------------------------

// A row whose value is a member of the section. `default_text` replaces the default in the reference.
template <typename T, typename V>
Key<T> key(std::string_view name, V T::*member, Kind<std::type_identity_t<V>> value_kind,
           std::string_view help, std::string_view default_text = {}) {
  const auto find = [member](const void* section) -> const void* {
    return &(static_cast<const T*>(section)->*member);
  };
  return {value_row(name, find, std::make_shared<const AnyKindOf<V>>(std::move(value_kind)), help,
                    default_text, &default_section<T>())};
}

// A nested section, which lies in the outer one or behind a pointer of it. With `short_key` a single word
// stands for a map with that key alone.
template <typename T, typename V>
Key<T> section(std::string_view name, V T::*member, const Keys<V>& (*keys)(),
               std::string_view short_key = {}) {
  const auto find = [member](const void* outer) -> const void* {
    return &(static_cast<const T*>(outer)->*member);
  };
  const auto table = [keys]() -> const KeyTable& { return keys().table(); };
  return {section_row(name, find, table, short_key)};
}

template <typename T, typename V>
Key<T> section(std::string_view name, Boxed<V> T::*member, const Keys<V>& (*keys)(),
               std::string_view short_key = {}) {
  const auto find = [member](const void* outer) -> const void* {
    return &*(static_cast<const T*>(outer)->*member);
  };
  const auto table = [keys]() -> const KeyTable& { return keys().table(); };
  return {section_row(name, find, table, short_key)};
}

// A row of a section as a row of the one around it.
template <typename T, typename V>
Key<T> lifted(Boxed<V> T::*member, const KeyRow& inner) {
  const auto find = [member](const void* outer) -> const void* {
    return &*(static_cast<const T*>(outer)->*member);
  };
  return {lifted_row(find, inner)};
}

template <typename T>
Key<T> only_with(std::string other, std::vector<std::string> values, Key<T> key) {
  key.row.only_with = {std::move(other), std::move(values)};
  return key;
}

template <WordEnum E, typename T>
Key<T> only_with(std::string other, std::initializer_list<E> values, Key<T> key) {
  return only_with(std::move(other), words_of<E>(values), std::move(key));
}

}  // namespace shardlab
