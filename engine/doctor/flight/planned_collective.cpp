#include "engine/doctor/flight/planned_collective.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/lower_case.h"

namespace shardlab {
namespace {

constexpr Bytes k_small{1024};
constexpr std::size_t k_least_alike = 2;  // calls that must be alike, the one in question counted

struct Call {
  InstructionKind kind = InstructionKind::AllReduce;
  Bytes bytes;  // of the full side
  std::optional<InstructionId> instruction = {};
};

// Over Gloo torch 2.11 reduces all, and calls it so, where a part is asked for.
bool alike(const Call& planned, const Call& called) {
  const bool same = planned.kind == called.kind || (planned.kind == InstructionKind::ReduceScatter &&
                                                    called.kind == InstructionKind::AllReduce);
  return same && planned.bytes == called.bytes;
}

std::optional<InstructionKind> kind_of(const std::string& operation) {
  constexpr auto k_kinds = std::to_array<std::pair<std::string_view, InstructionKind>>(
      {{"reduce_scatter", InstructionKind::ReduceScatter},
       {"all_gather", InstructionKind::AllGather},
       {"allgather", InstructionKind::AllGather},
       {"all_reduce", InstructionKind::AllReduce},
       {"allreduce", InstructionKind::AllReduce},
       {"reduce", InstructionKind::Reduce}});
  const std::string lower = in_lower_case(operation);
  const auto found = std::find_if(k_kinds.begin(), k_kinds.end(), [&](const auto& kind) {
    return lower.find(kind.first) != std::string::npos;
  });
  return found == k_kinds.end() ? std::nullopt : std::optional(found->second);
}

// The names that torch gives its types.
std::int64_t bytes_of_element(const std::string& type) {
  constexpr auto k_sizes = std::to_array<std::pair<std::string_view, std::int64_t>>(
      {{"BFloat16", 2}, {"Half", 2}, {"Float", 4}, {"Double", 8}, {"Long", 8}, {"Int", 4}});
  const auto found =
      std::find_if(k_sizes.begin(), k_sizes.end(), [&](const auto& size) { return size.first == type; });
  return found == k_sizes.end() ? 1 : found->second;
}

Bytes bytes_of(const TensorSizes& sizes, const std::string& type) {
  double elements = 0;  // a dump may say anything
  for (const auto& shape : sizes) {
    double product = 1;
    for (const std::int64_t size : shape) product *= static_cast<double>(size);
    elements += product;
  }
  constexpr double k_most = 1e15;
  if (!(elements >= 0 && elements <= k_most)) return {};  // nor what is no number any more
  return Bytes{static_cast<std::int64_t>(elements) * bytes_of_element(type)};
}

std::optional<Call> call_of(const FlightEntry& entry) {
  const auto kind = kind_of(entry.operation);
  if (!kind || entry.input_types.empty()) return std::nullopt;
  const bool gathers = *kind == InstructionKind::AllGather;
  const Call call{*kind, bytes_of(gathers ? entry.outputs : entry.inputs, entry.input_types.front())};
  return call.bytes < k_small ? std::nullopt : std::optional(call);
}

std::vector<Call> calls_of(const StepPlan& plan, std::size_t ranks) {
  std::vector<Call> calls;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    if (!is_collective(instruction.kind) || instruction.bytes < k_small || !instruction.group) continue;
    const bool is_of_group =
        ranks == 0 || static_cast<std::size_t>(plan.groups[instruction.group->index()].size) == ranks;
    if (is_of_group) calls.push_back({instruction.kind, instruction.bytes, make_id<InstructionId>(i)});
  }
  return calls;
}

// How many calls before and with `at` are alike, the plan's steps one after the other.
std::size_t alike_until(const std::vector<Call>& plan, std::size_t at, const std::vector<Call>& called) {
  const std::size_t most = std::min(plan.size(), called.size());
  std::size_t count = 0;
  while (count < most &&
         alike(plan[(at + plan.size() - count) % plan.size()], called[called.size() - 1 - count]))
    ++count;
  return count;
}

}  // namespace

std::optional<InstructionId> planned_collective(const StepPlan& plan, const FlightDump& dump,
                                                const std::string& group, std::int64_t sequence) {
  std::vector<Call> called;
  for (const FlightEntry& entry : dump.entries) {
    if (entry.group != group || entry.sequence > sequence) continue;
    const auto call = call_of(entry);
    if (call) called.push_back(*call);
    if (entry.sequence == sequence && !call) return std::nullopt;
  }
  const auto members = dump.groups.find(group);
  const std::vector<Call> planned = calls_of(plan, members == dump.groups.end() ? 0 : members->second.size());
  std::size_t best = 0, at = 0, count = 0;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const std::size_t here = called.empty() ? 0 : alike_until(planned, i, called);
    if (here > best) {
      best = here;
      at = i;
      count = 0;
    }
    count += here == best;
  }
  return best >= k_least_alike && count == 1 ? planned[at].instruction : std::nullopt;
}

}  // namespace shardlab
