#include "engine/doctor/log/collective_message.h"

#include <initializer_list>

#include "engine/base/text/log_numbers.h"

namespace shardlab {
namespace {

constexpr std::size_t k_longest_name = 64;

std::string word_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  text = text.substr(at + key.size(), k_longest_name);
  return std::string(text.substr(0, text.find_first_of(",) ](")));
}

std::string group_of(std::string_view line) {
  for (const std::string_view key : {"PG GUID ", "PG ID ", "[PG "}) {
    if (std::string group = word_after(line, key); !group.empty()) return group;
  }
  return {};
}

// The number after the first of the keys that has one.
std::optional<std::int64_t> first_after(std::string_view line, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const auto number = integer_after(line, key)) return number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<CollectiveMessage> read_collective_message(std::string_view line) {
  CollectiveMessage message;
  const std::size_t work = line.find("WorkNCCL(");
  if (work != std::string_view::npos) {
    const std::string_view inside = line.substr(work);
    message.sequence = integer_after(inside, "SeqNum");
    message.operation = word_after(inside, "OpType=");
    message.elements_in = integer_after(inside, "NumelIn");
    message.elements_out = integer_after(inside, "NumelOut");
    message.timeout_ms = integer_after(inside, "Timeout(ms)");
  } else {
    message.last_enqueued = first_after(line, {"ast enqueued NCCL work", "ast enqueued work"});
    message.last_completed = first_after(line, {"ast completed NCCL work", "ast completed work"});
    if (!message.last_enqueued) return std::nullopt;
    message.sequence = first_after(line, {"at work sequence id", "at work", "at NCCL work"});
  }
  message.group = group_of(line);
  return message;
}

bool is_of_same_collective(const CollectiveMessage& a, const CollectiveMessage& b) {
  return !a.sequence || !b.sequence || a.sequence == b.sequence;
}

void join(CollectiveMessage& message, const CollectiveMessage& more) {
  if (!message.sequence) message.sequence = more.sequence;
  if (message.operation.empty()) message.operation = more.operation;
  if (!message.elements_in) message.elements_in = more.elements_in;
  if (!message.elements_out) message.elements_out = more.elements_out;
  if (!message.timeout_ms) message.timeout_ms = more.timeout_ms;
  if (!message.last_enqueued) message.last_enqueued = more.last_enqueued;
  if (!message.last_completed) message.last_completed = more.last_completed;
  if (message.group.empty()) message.group = more.group;
}

}  // namespace shardlab
