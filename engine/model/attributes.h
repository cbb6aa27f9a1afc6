// Attributes: named numbers of operators ("heads" 32, "epsilon" 1e-5) and of constant tensors.
//
// Each is written and read through a key that says its type, so that a misspelt name does not compile. The
// keys of operators are in engine/model/operators/attribute_keys.h, those of constants in
// engine/model/constants.cpp.
#pragma once

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace shardlab {

template <typename T>
requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) struct Attribute {
  std::string_view name;  // a literal; part of the structure's hash
  bool assumed = false;   // by predictions, of data that is not known: no part of the structure
};

struct AttributeValue {
  template <typename T>
  AttributeValue(Attribute<T> key, std::type_identity_t<T> given)
      : name(key.name), value(static_cast<double>(given)), assumed(key.assumed) {}

  std::string_view name;
  double value;
  bool assumed;
  friend bool operator==(const AttributeValue&, const AttributeValue&) = default;
};

// Values in the order in which they were given.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<AttributeValue> values) : values_(values) {}

  template <typename T>
  std::optional<T> find(Attribute<T> key) const {
    for (const AttributeValue& one : values_) {
      if (one.name == key.name) return static_cast<T>(one.value);
    }
    return std::nullopt;
  }
  // One that the operator's type requires. Throws std::logic_error where whoever made the graph left it out.
  template <typename T>
  T get(Attribute<T> key) const {
    if (const std::optional<T> found = find(key)) return *found;
    throw std::logic_error("the attribute '" + std::string(key.name) + "' is missing");
  }
  template <typename T>
  T get_or(Attribute<T> key, std::type_identity_t<T> otherwise) const {
    return find(key).value_or(otherwise);
  }

  // Replaces the value where there is one, else appends it.
  template <typename T>
  void set(Attribute<T> key, std::type_identity_t<T> value) {
    for (AttributeValue& one : values_) {
      if (one.name == key.name) {
        one = {key, value};
        return;
      }
    }
    values_.emplace_back(key, value);
  }

  const std::vector<AttributeValue>& values() const { return values_; }
  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  std::vector<AttributeValue> values_;
};

}  // namespace shardlab
