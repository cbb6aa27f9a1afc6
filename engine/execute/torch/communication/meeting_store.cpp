#include "engine/execute/torch/communication/meeting_store.h"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shardlab {
namespace {

std::string text_of_bytes(const MeetingStore::Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

MeetingStore::Bytes bytes_of(const MeetingMessage& answer) {
  if (answer.texts.empty()) throw std::runtime_error("rank 0's answer holds no value");
  return {answer.texts.front().begin(), answer.texts.front().end()};
}

}  // namespace

MeetingMessage MeetingStore::ask(const MeetingMessage& question, std::chrono::milliseconds waits) const {
  // For the answer itself, when rank 0's machine is busy.
  constexpr std::chrono::seconds k_answer{60};
  auto answer = meeting_->client->ask(question, waits + k_answer);
  if (!answer) throw std::runtime_error(answer.error().what);
  return *std::move(answer);
}

void MeetingStore::set(const std::string& key, const Bytes& value) {
  ask({MeetingVerb::set, 0, {key, text_of_bytes(value)}});
}

MeetingStore::Bytes MeetingStore::compareSet(const std::string& key, const Bytes& expected,
                                             const Bytes& desired) {
  return bytes_of(ask({MeetingVerb::compare_set, 0, {key, text_of_bytes(expected), text_of_bytes(desired)}}));
}

MeetingStore::Bytes MeetingStore::get(const std::string& key) {
  wait({key}, timeout_);
  return bytes_of(ask({MeetingVerb::get, 0, {key}}));
}

std::int64_t MeetingStore::add(const std::string& key, std::int64_t value) {
  return ask({MeetingVerb::add, value, {key}}).number;
}

bool MeetingStore::deleteKey(const std::string& key) {
  return ask({MeetingVerb::erase, 0, {key}}).verb == MeetingVerb::yes;
}

bool MeetingStore::check(const std::vector<std::string>& keys) {
  return ask({MeetingVerb::has, 0, keys}).verb == MeetingVerb::yes;
}

std::int64_t MeetingStore::getNumKeys() {
  return ask({MeetingVerb::count, 0, {}}).number;
}

void MeetingStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  const MeetingMessage answer = ask({MeetingVerb::wait, timeout.count(), keys}, timeout);
  if (answer.verb == MeetingVerb::yes) return;
  throw std::runtime_error(fmt::format("nobody set {} within {} s", fmt::join(keys, ", "),
                                       static_cast<double>(timeout.count()) / 1000));
}

void MeetingStore::append(const std::string& key, const Bytes& value) {
  ask({MeetingVerb::append, 0, {key, text_of_bytes(value)}});
}

}  // namespace shardlab
