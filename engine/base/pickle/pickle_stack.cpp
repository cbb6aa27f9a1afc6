#include "engine/base/pickle/pickle_stack.h"

#include <utility>

namespace shardlab {
namespace {

constexpr std::size_t k_batch = 1000;  // Python's pickler adds so many items, or keys and values, at once

}  // namespace

std::optional<PickleTree> PickleStack::finish() {
  if (stack_.size() != 1) return std::nullopt;
  tree_.set_root(stack_.back());
  return std::move(tree_);
}

bool PickleStack::push_container(PickleKind kind) {
  const PickleValue made = tree_.make_container(kind);
  const std::size_t place = *tree_.container_place(made);
  if (taker_ != nullptr && place >= names_.size()) names_.resize(place + 1);
  if (taker_ != nullptr) names_[place] = {};
  return push(made);
}

bool PickleStack::drop() {
  if (!marks_.empty() && stack_.size() == marks_.back()) return marks_.pop_back(), true;
  if (stack_.empty()) return false;
  return stack_.pop_back(), true;
}

bool PickleStack::drop_to_mark() {
  const auto begin = begin_of({});
  if (begin) stack_.resize(*begin);
  return begin.has_value();
}

bool PickleStack::duplicate() {
  if (stack_.size() <= floor()) return false;
  named_again(stack_.back());
  return push(PickleValue(stack_.back()));
}

std::optional<std::size_t> PickleStack::begin_of(std::optional<std::size_t> count) {
  if (count) return stack_.size() < floor() + *count ? std::nullopt : std::optional(stack_.size() - *count);
  if (marks_.empty()) return std::nullopt;
  const std::size_t begin = marks_.back();
  marks_.pop_back();
  return begin;
}

bool PickleStack::build(PickleKind kind, std::optional<std::size_t> count) {
  const auto begin = begin_of(count);
  if (!begin || (kind == PickleKind::dictionary && (stack_.size() - *begin) % 2 != 0)) return false;
  const std::vector<PickleValue> items(stack_.begin() + static_cast<std::ptrdiff_t>(*begin), stack_.end());
  stack_.resize(*begin);
  push_container(kind);
  *tree_.container(stack_.back()) = items;
  return true;
}

bool PickleStack::extend(PickleKind kind, std::optional<std::size_t> count) {
  const auto begin = begin_of(count);
  if (!begin || *begin <= floor() || tree_.kind(stack_[*begin - 1]) != kind) return false;
  if (kind == PickleKind::dictionary && (stack_.size() - *begin) % 2 != 0) return false;
  if (tree_.container(stack_[*begin - 1]) == nullptr) return false;  // it was taken
  for (std::size_t i = *begin; i < stack_.size(); ++i) offer(stack_[i]);
  std::vector<PickleValue>& into = *tree_.container(stack_[*begin - 1]);
  const bool is_whole = !count && into.empty() && stack_.size() - *begin < k_batch;
  into.insert(into.end(), stack_.begin() + static_cast<std::ptrdiff_t>(*begin), stack_.end());
  stack_.resize(*begin);
  if (is_whole) offer(stack_.back());
  return true;
}

// Whoever takes a container replaces all that names it: its place on the stack, and in the memo.
void PickleStack::offer(PickleValue& value) {
  Names* const names = names_of(value);
  if (names == nullptr || names->stays) return;
  const auto number = taker_->take(tree_, value);
  names->stays = !number;
  if (!number) return;
  const PickleValue whole = std::exchange(value, PickleTree::make_taken(tree_.kind(value), *number));
  if (names->memo) memo_.set(*names->memo, value);
  tree_.release(whole);
}

PickleStack::Names* PickleStack::names_of(PickleValue value) {
  const auto place = taker_ == nullptr ? std::nullopt : tree_.container_place(value);
  return place ? &names_[*place] : nullptr;
}

void PickleStack::named_again(PickleValue value) {
  if (Names* const names = names_of(value)) names->stays = true;
}

bool PickleStack::memoize(std::optional<std::uint64_t> place) {
  if (!place || stack_.size() <= floor()) return false;
  memo_.set(*place, stack_.back());
  Names* const names = names_of(stack_.back());
  if (names != nullptr && std::exchange(names->memo, place)) names->stays = true;
  return true;
}

bool PickleStack::recall(std::optional<std::uint64_t> place) {
  const PickleValue* const found = place ? memo_.find(*place) : nullptr;
  if (found == nullptr) return false;
  named_again(*found);
  return push(PickleValue(*found));
}

}  // namespace shardlab
