// What a pickle holds: numbers, texts, lists, tuples and dictionaries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/pickle/equal_texts.h"

namespace shardlab {

enum class PickleKind : std::uint8_t { none, boolean, integer, number, text, bytes, list, tuple, dictionary };

// One object of a tree. Large pickles have many, and so it is no more than a number.
class PickleValue {
 public:
  PickleValue() = default;
  bool operator==(const PickleValue& other) const { return bits() == other.bits(); }
  // The same for the same object of one tree.
  std::uint64_t bits() const {
    return static_cast<std::uint64_t>(content_) << 5U | std::uint64_t{is_elsewhere_} << 4U | kind_;
  }

 private:
  friend class PickleTree;
  PickleValue(PickleKind kind, std::int64_t content, bool is_elsewhere = false)
      : kind_(static_cast<unsigned char>(kind)), is_elsewhere_(is_elsewhere), content_(content) {}
  PickleKind kind() const { return static_cast<PickleKind>(kind_); }
  std::int64_t content() const { return content_; }

  std::uint64_t kind_ : 4 = 0;
  std::uint64_t is_elsewhere_ : 1 = 0;  // an integer of more than 59 bits, a container that was taken
  std::int64_t content_ : 59 = 0;       // a small integer, or a place in a list of the tree
};
static_assert(sizeof(PickleValue) == 8);

// All objects of a pickle that nobody took. What is asked of an object of another kind is absent.
class PickleTree {
 public:
  PickleValue root() const { return root_; }
  PickleKind kind(PickleValue value) const { return value.kind(); }

  std::optional<std::int64_t> integer(PickleValue value) const;  // booleans count; addresses wrap around
  std::optional<std::string_view> text(PickleValue value) const;
  // The items of a list or tuple, the keys and values of a dictionary in turn; empty for others.
  std::span<const PickleValue> items(PickleValue value) const;
  std::optional<PickleValue> find(PickleValue dictionary, std::string_view key) const;
  // Among keys and values in turn. The last of equal keys counts, as in Python.
  std::optional<PickleValue> find(std::span<const PickleValue> pairs, std::string_view key) const;
  // What the taker called it (pickle_taker.h).
  std::optional<std::int64_t> taken(PickleValue value) const;

  // Making one.
  void set_root(PickleValue root) { root_ = root; }
  static PickleValue make(PickleKind kind, std::int64_t content = 0) { return {kind, content}; }
  PickleValue make_integer(std::int64_t value);
  PickleValue make_text(PickleKind kind, std::string_view text);
  PickleValue make_container(PickleKind kind);
  static PickleValue make_taken(PickleKind kind, std::int64_t number) { return {kind, number, true}; }
  // For a container that is in the tree; absent for others.
  std::vector<PickleValue>* container(PickleValue value);
  std::optional<std::size_t> container_place(PickleValue value) const;
  // Nothing names the container any more; its place is given to another.
  void release(PickleValue container);

 private:
  std::unique_ptr<EqualTexts> texts_ = std::make_unique<EqualTexts>();
  std::vector<std::int64_t> large_integers_;
  std::vector<std::vector<PickleValue>> containers_;
  std::vector<std::size_t> released_;  // places in containers_
  PickleValue root_;
};

}  // namespace shardlab
