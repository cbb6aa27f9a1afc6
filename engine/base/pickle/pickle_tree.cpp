#include "engine/base/pickle/pickle_tree.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_most_within = (std::int64_t{1} << 58U) - 1;

bool is_container(PickleKind kind) {
  return kind == PickleKind::list || kind == PickleKind::tuple || kind == PickleKind::dictionary;
}

}  // namespace

std::optional<std::int64_t> PickleTree::integer(PickleValue value) const {
  if (value.kind() != PickleKind::integer && value.kind() != PickleKind::boolean) return std::nullopt;
  if (value.is_elsewhere_) return large_integers_[static_cast<std::size_t>(value.content())];
  return value.content();
}

std::optional<std::string_view> PickleTree::text(PickleValue value) const {
  if (value.kind() != PickleKind::text) return std::nullopt;
  return texts_->text(static_cast<std::uint32_t>(value.content()));
}

std::optional<std::size_t> PickleTree::container_place(PickleValue value) const {
  if (!is_container(value.kind()) || value.is_elsewhere_) return std::nullopt;
  return static_cast<std::size_t>(value.content());
}

std::span<const PickleValue> PickleTree::items(PickleValue value) const {
  const auto place = container_place(value);
  return place ? std::span<const PickleValue>(containers_[*place]) : std::span<const PickleValue>();
}

std::optional<PickleValue> PickleTree::find(PickleValue dictionary, std::string_view key) const {
  if (kind(dictionary) != PickleKind::dictionary) return std::nullopt;
  return find(items(dictionary), key);
}

std::optional<PickleValue> PickleTree::find(std::span<const PickleValue> pairs, std::string_view key) const {
  for (std::size_t i = pairs.size(); i >= 2; i -= 2)
    if (text(pairs[i - 2]) == key) return pairs[i - 1];
  return std::nullopt;
}

std::optional<std::int64_t> PickleTree::taken(PickleValue value) const {
  if (!is_container(value.kind()) || !value.is_elsewhere_) return std::nullopt;
  return value.content();
}

PickleValue PickleTree::make_integer(std::int64_t value) {
  if (value >= -k_most_within && value <= k_most_within) return {PickleKind::integer, value};
  large_integers_.push_back(value);
  return {PickleKind::integer, static_cast<std::int64_t>(large_integers_.size() - 1), true};
}

PickleValue PickleTree::make_text(PickleKind kind, std::string_view text) {
  return {kind, std::int64_t{texts_->add(text)}};
}

PickleValue PickleTree::make_container(PickleKind kind) {
  std::size_t place = containers_.size();
  if (released_.empty()) {
    containers_.emplace_back();
  } else {
    place = released_.back();
    released_.pop_back();
  }
  return {kind, static_cast<std::int64_t>(place)};
}

std::vector<PickleValue>* PickleTree::container(PickleValue value) {
  const auto place = container_place(value);
  return place ? &containers_[*place] : nullptr;
}

// The room of its items is kept for the next: it is of the same kind, most often.
void PickleTree::release(PickleValue container) {
  const auto place = container_place(container);
  if (!place) return;
  containers_[*place].clear();
  released_.push_back(*place);
}

}  // namespace shardlab
