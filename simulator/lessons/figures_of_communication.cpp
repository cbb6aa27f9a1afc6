#include <algorithm>
#include <array>

#include "simulator/lessons/figure_list.h"

namespace shardlab::lessons {
namespace {

using Rest = const std::vector<Value>&;

// Adds a member up over the kinds that are asked for, over all where none is.
template <typename Member>
Result<double> total(const FigureSubject& subject, Rest rest, Member member) {
  std::vector<InstructionKind> kinds;
  for (const Value& each : rest) {
    SHARDLAB_TRY(const InstructionKind kind, word_of<InstructionKind>(each));
    kinds.push_back(kind);
  }
  double sum = 0;
  for (const CommunicationTotal& each : subject.summary->communication) {
    if (kinds.empty() || std::find(kinds.begin(), kinds.end(), each.kind) != kinds.end()) sum += member(each);
  }
  return sum;
}

Result<Value> as_bytes(Result<double> sum) {
  if (!sum) return fail(std::move(sum).error());
  return Value{ValueKind::bytes, *sum, {}};
}

Result<Value> payload(const FigureSubject& subject, Rest rest) {
  return as_bytes(
      total(subject, rest, [](const auto& each) { return static_cast<double>(each.bytes.value); }));
}
Result<Value> sent(const FigureSubject& subject, Rest rest) {
  return as_bytes(total(subject, rest, [](const auto& each) {
    return static_cast<double>(each.counted.value_or(each.sent).value);
  }));
}
Result<Value> collectives(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const double count,
               total(subject, rest, [](const auto& each) { return static_cast<double>(each.count); }));
  return number_value(count);
}

Result<Value> moved(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const MemorySpace from, word_of<MemorySpace>(rest[0]));
  SHARDLAB_TRY(const MemorySpace to, word_of<MemorySpace>(rest[1]));
  Bytes sum;
  for (const TransferTotal& each : subject.summary->transfers) {
    if (each.from == from && each.to == to) sum += each.bytes;
  }
  return bytes_value(sum);
}

Result<Value> largest(const FigureSubject& subject, Rest rest) {
  SHARDLAB_TRY(const InstructionKind kind, word_of<InstructionKind>(rest[0]));
  Bytes most;
  for (const Instruction& instruction : subject.plan().instructions) {
    if (instruction.kind == kind) most = std::max(most, instruction.bytes);
  }
  return bytes_value(most);
}

// Collectives of groups of one size: between replicas, or within a shard group.
Result<Value> payload_among(const FigureSubject& subject, Rest rest) {
  if (rest[0].kind != ValueKind::number) return bad_input({}, "the number of ranks of a group was expected");
  Bytes sum;
  for (const CommunicationTotal& each : subject.summary->communication) {
    if (each.group_size == static_cast<int>(rest[0].number)) sum += each.bytes;
  }
  return bytes_value(sum);
}

constexpr std::array k_communication_figures = {
    FigureFunction{
        "payload", "a, kind, ...", 0, 8,
        "bytes of the collectives of a rank in a step, each counted whole; of all kinds without one",
        payload},
    FigureFunction{"payload_among", "a, ranks", 1, 1,
                   "likewise, of the collectives of groups of so many ranks", payload_among},
    FigureFunction{"sent", "a, kind, ...", 0, 8,
                   "bytes that all ranks together send for them; of a run as counted", sent},
    FigureFunction{"collectives", "a, kind, ...", 0, 8, "how many of them a rank takes part in", collectives},
    FigureFunction{"largest", "a, kind", 1, 1, "bytes of the largest collective of a kind", largest},
    FigureFunction{"moved", "a, from, to", 2, 2,
                   "bytes that a rank copies from one memory space to another in a step", moved},
};

}  // namespace

std::span<const FigureFunction> figures_of_communication() {
  return k_communication_figures;
}

}  // namespace shardlab::lessons
