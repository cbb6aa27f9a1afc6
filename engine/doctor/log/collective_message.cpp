#include "engine/doctor/log/collective_message.h"

#include "engine/doctor/log/log_numbers.h"

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
  } else if (line.find("last enqueued NCCL work") != std::string_view::npos) {
    message.sequence = integer_after(line, "at work");
    if (!message.sequence) message.sequence = integer_after(line, "at NCCL work");
    message.last_enqueued = integer_after(line, "last enqueued NCCL work");
    message.last_completed = integer_after(line, "last completed NCCL work");
  } else {
    return std::nullopt;
  }
  message.group = group_of(line);
  return message;
}

void join(CollectiveMessage& message, const CollectiveMessage& more) {
  if (message.operation.empty()) message.operation = more.operation;
  if (!message.elements_in) message.elements_in = more.elements_in;
  if (!message.elements_out) message.elements_out = more.elements_out;
  if (!message.timeout_ms) message.timeout_ms = more.timeout_ms;
  if (!message.last_enqueued) message.last_enqueued = more.last_enqueued;
  if (!message.last_completed) message.last_completed = more.last_completed;
  if (message.group.empty()) message.group = more.group;
}

}  // namespace shardlab
