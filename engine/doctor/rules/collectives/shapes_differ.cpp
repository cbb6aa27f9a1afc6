// The same collective, called with tensors of different sizes.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/flight/stand_findings.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

// Those whose tensors must be of one size on all ranks; of a scatter, a gather or an all-to-all they need
// not.
bool wants_equal_sizes(const std::string& operation) {
  constexpr std::array<std::string_view, 7> k_equal = {
      "ALLREDUCE",      "BROADCAST",           "REDUCE", "ALLGATHER", "_ALLGATHER_BASE",
      "REDUCE_SCATTER", "_REDUCE_SCATTER_BASE"};
  return std::find(k_equal.begin(), k_equal.end(), operation) != k_equal.end();
}

bool differ_in_size(const CollectiveMessage& a, const CollectiveMessage& b) {
  return a.group == b.group && a.sequence && a.sequence == b.sequence && a.operation == b.operation &&
         wants_equal_sizes(a.operation) && a.elements_in && b.elements_in && a.elements_in != b.elements_in;
}

// Ranks whose watchdogs gave up on the same collective, with other sizes.
std::vector<Finding> check_sizes(const Rule& rule, const Case& facts) {
  const auto& collectives = facts.log->collectives;
  if (collectives.empty()) return {};
  const auto& [rank, seen] = *collectives.begin();
  for (const auto& [other_rank, other] : collectives) {
    if (!differ_in_size(seen.message, other.message)) continue;
    Finding finding = finding_of(rule);
    finding.message = fmt::format(
        "Ranks called {} {} with tensors of different sizes: rank {} with {} elements, rank {} with {}.",
        seen.message.operation, *seen.message.sequence, rank, *seen.message.elements_in, other_rank,
        *other.message.elements_in);
    finding.certainty = 84;
    finding.position = std::min(seen.at.line, other.at.line);
    finding.ranks = {rank, other_rank};
    finding.evidence = {evidence_of(facts, seen.at), evidence_of(facts, other.at)};
    return {finding};
  }
  return {};
}

std::vector<Finding> check_dumped_sizes(const Rule& rule, const Case& facts) {
  return stand_findings(rule, facts, {GroupStand::Kind::other_sizes});
}

Rule shapes_differ() {
  return {
      .id = "collectives/shapes-differ",
      .codes = {"C-22"},
      .title = "tensors of one collective differ in size between ranks",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::measurement, Need::log, Need::flight},
      .threshold = "another shape or type at the same sequence number on two ranks",
      .source = "torch/csrc/distributed/c10d/ProcessGroupWrapper.cpp",
      .message = "Ranks call the same collective with tensors of different sizes.",
      .explanation =
          "A collective of equal parts needs the same shape and type everywhere; NCCL does not check, so "
          "that the call hangs or reads what it should not. The usual reason is a last batch that is smaller "
          "on some ranks, or gathering tensors that were padded to each rank's own longest sequence.",
      .fix = {.kind = FixKind::code,
              .text = "drop the last incomplete batch, or pad to a length that all ranks agree on before the "
                      "collective"},
      .example =
          "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: "
          "CollectiveFingerPrint(SequenceNumber=7, OpType=ALLREDUCE, TensorShape=[12]), but Rank 0 is "
          "running collective: CollectiveFingerPrint(SequenceNumber=7, OpType=ALLREDUCE, TensorShape=[16]). "
          "Collectives differ in the following aspects: Tensor Tensor shapes: 12vs 16",
      .signs =
          {
              {.pattern = "collectives differ in the following aspects*tensor shapes",
               .certainty = 86,
               .unless = {"aspects*op type", "aspects*sequence number:"}},
              {.pattern = "collectives differ in the following aspects*tensor sizes",
               .certainty = 86,
               .unless = {"aspects*op type", "aspects*sequence number:"}},
              {.pattern = "collectives differ in the following aspects*tensor dtypes",
               .certainty = 86,
               .unless = {"aspects*op type", "aspects*sequence number:"}},
              {.pattern = "tensors must have the same size*all_gather", .certainty = 70},
              {.pattern = "all tensors*must have the same size*across ranks", .certainty = 80},
              {.pattern = "gatheralgorithm*size mismatch", .certainty = 70},
              {.pattern = "op.preamble.length <= op.nbytes", .certainty = 88},
              {.pattern = "processgroupgloo::*invalid tensor size at index", .certainty = 82},
              {.pattern = "enforce fail*gloo*op.preamble.length*", .certainty = 88},
              {.pattern = "received data size doesn't match expected size", .certainty = 85},
              {.pattern = "output tensor size must be equal to world_size times input tensor size",
               .certainty = 75},
              {.pattern = "cannot operate on the required operation as the input tensors are not the same "
                          "shape across processes",
               .certainty = 90},
              {.pattern = "impossible to apply the desired operation due to inconsistent shapes",
               .certainty = 92},
              {.pattern = "not all values are true tensors*gather", .certainty = 50},
              {.pattern = "tensor list*across ranks*inconsistent shape", .certainty = 70},
              {.pattern = "split sizes*doesn't match total dim 0 size", .certainty = 70},
          },
      .checks = {{.needs = {Need::log}, .run = check_sizes},
                 {.needs = {Need::flight}, .run = check_dumped_sizes}},
  };
}

}  // namespace

std::vector<Rule> collectives_shapes_differ_rules() {
  return {shapes_differ()};
}

}  // namespace shardlab
