#include "engine/execute/meeting/value_table.h"

#include <algorithm>
#include <cstdlib>

namespace shardlab {

void ValueTable::set(const std::string& key, std::string value) {
  const std::lock_guard lock(mutex_);
  values_.insert_or_assign(key, std::move(value));
  changed_.notify_all();
}

std::optional<std::string> ValueTable::get(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

void ValueTable::append(const std::string& key, const std::string& more) {
  const std::lock_guard lock(mutex_);
  values_[key] += more;
  changed_.notify_all();
}

std::int64_t ValueTable::add(const std::string& key, std::int64_t number) {
  const std::lock_guard lock(mutex_);
  std::string& value = values_[key];
  const std::int64_t sum = std::strtoll(value.c_str(), nullptr, 10) + number;
  value = std::to_string(sum);
  changed_.notify_all();
  return sum;
}

std::string ValueTable::compare_set(const std::string& key, const std::string& expected,
                                    const std::string& desired) {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(key);
  const bool matches = found == values_.end() ? expected.empty() : found->second == expected;
  if (!matches) return found == values_.end() ? expected : found->second;
  values_.insert_or_assign(key, desired);
  changed_.notify_all();
  return desired;
}

bool ValueTable::erase(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return values_.erase(key) > 0;
}

bool ValueTable::has(const std::vector<std::string>& keys) const {
  const std::lock_guard lock(mutex_);
  return has_all(keys);
}

std::size_t ValueTable::size() const {
  const std::lock_guard lock(mutex_);
  return values_.size();
}

bool ValueTable::wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return closed_ || has_all(keys); });
  return !closed_ && has_all(keys);
}

void ValueTable::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool ValueTable::has_all(const std::vector<std::string>& keys) const {
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) { return values_.contains(key); });
}

}  // namespace shardlab
