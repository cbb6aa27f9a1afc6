// Rows of a section's table, which do not know the type of the section: one compilation for all of them.
//
// A section, and a value in it, is handed as the address of an object whose type only key.h knows: the row
// was made for it. What takes a `const void*` looks, what takes a `void*` changes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/yaml.h"
#include "engine/scenario/keys/kind.h"
#include "engine/scenario/problems.h"
#include "engine/scenario/source.h"

namespace shardlab {

// What reading produces besides the values.
struct Reading {
  ScenarioSource source;
  Problems problems;
};

// The key matters only while another key of the same section has one of these values.
struct OnlyWith {
  std::string key;  // empty: always
  std::vector<std::string> values;
};

// One row of the reference.
struct KeyLine {
  std::string path;
  std::string type;
  AllowedValues values;
  std::string default_value;
  std::string help;
  OnlyWith condition;
  bool default_in_words = false;  // "what the others leave", which nobody could write as a value
};

struct KeyTable;

struct KeyRow {
  std::string name;
  std::function<void(const YamlNode&, const std::string& path, void* section, Reading&)> read;
  // What differs from the second section; nothing when they are equal.
  std::function<std::optional<YamlNode>(const void* section, const void* base)> write_difference;
  // The value as one word, for the conditions of other keys; empty for sections.
  std::function<std::string(const void* section)> word;
  // The checks of a nested section; may be empty.
  std::function<void(const void* section, const std::string& path, const ScenarioSource&, Problems&)> check;
  std::function<void(const std::string& path, std::vector<KeyLine>&)> describe_to;
  OnlyWith only_with;
  // The rows of a nested section, and its key that a single word gives; empty for values.
  std::function<const KeyTable&()> table;
  std::string short_key;
};

struct KeyTable {
  std::vector<KeyRow> rows;
  const void* defaults = nullptr;  // a section as the defaults make it; lives as long as the program
};

// The kind of a value without its type.
class AnyKind {
 public:
  AnyKind(std::string type, AllowedValues values) : type_(std::move(type)), values_(std::move(values)) {}
  AnyKind(const AnyKind&) = delete;
  AnyKind& operator=(const AnyKind&) = delete;
  virtual ~AnyKind() = default;

  const std::string& type() const { return type_; }
  const AllowedValues& values() const { return values_; }
  virtual Status read(const YamlNode& node, std::string_view name, void* value) const = 0;
  virtual YamlNode write(const void* value) const = 0;
  virtual bool equal(const void* a, const void* b) const = 0;

 private:
  std::string type_;
  AllowedValues values_;
};

template <typename V>
class AnyKindOf final : public AnyKind {
 public:
  explicit AnyKindOf(Kind<V> kind)
      : AnyKind(std::move(kind.type), std::move(kind.values)),
        read_(std::move(kind.read)),
        write_(std::move(kind.write)) {}

  Status read(const YamlNode& node, std::string_view name, void* value) const override {
    Result<V> result = read_(node, name);
    if (!result) return fail(std::move(result).error());
    *static_cast<V*>(value) = *std::move(result);
    return {};
  }
  YamlNode write(const void* value) const override { return write_(*static_cast<const V*>(value)); }
  bool equal(const void* a, const void* b) const override {
    return *static_cast<const V*>(a) == *static_cast<const V*>(b);
  }

 private:
  std::function<Result<V>(const YamlNode&, std::string_view)> read_;
  std::function<YamlNode(const V&)> write_;
};

// Where a section has a value, or a section of its own.
using Finder = std::function<const void*(const void* section)>;

// A row whose value `find` finds. `defaults` as in KeyTable; `default_text` replaces its value in the
// reference.
KeyRow value_row(std::string_view name, Finder find, std::shared_ptr<const AnyKind> kind,
                 std::string_view help, std::string_view default_text, const void* defaults);

// A nested section. With `short_key` a single word stands for a map with that key alone.
KeyRow section_row(std::string_view name, Finder find, std::function<const KeyTable&()> table,
                   std::string_view short_key);

// A row of the section that `find` finds, as a row of the one around it.
KeyRow lifted_row(Finder find, const KeyRow& inner);

// All rows: as key.h's read_section(), write_section(), check_section() and describe_section().
void read_rows(const KeyTable& table, const YamlNode& node, const std::string& path, void* section,
               Reading& reading);
std::optional<YamlNode> write_rows(const KeyTable& table, const void* section, const void* base);
void check_rows(const KeyTable& table, const void* section, const std::string& path,
                const ScenarioSource& source, Problems& problems);
void describe_rows(const KeyTable& table, const std::string& path, std::vector<KeyLine>& lines);

inline std::string joined_path(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

}  // namespace shardlab
