#include "simulator/cost/collective_cost.h"

#include <cmath>

#include <fmt/format.h>

#include "simulator/cost/formula_text.h"

namespace shardlab {

CollectiveKind collective_kind(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::AllGather: return CollectiveKind::all_gather;
    case InstructionKind::ReduceScatter: return CollectiveKind::reduce_scatter;
    case InstructionKind::Broadcast: return CollectiveKind::broadcast;
    case InstructionKind::Reduce: return CollectiveKind::reduce;
    case InstructionKind::AllToAll: return CollectiveKind::all_to_all;
    default: return CollectiveKind::all_reduce;
  }
}

double bus_factor(InstructionKind kind, int ranks) {
  return bus_factor(collective_kind(kind), ranks);
}

double collective_formula_ns(const CollectiveWork& work, const CollectiveTerms& terms) {
  if (work.ranks <= 1) return 0;
  const auto bytes = static_cast<double>(work.bytes.value);
  return terms.latency_ns + bytes * bus_factor(work.kind, work.ranks) / terms.bandwidth.value * 1e9 +
         terms.ns_per_root_byte * std::sqrt(bytes);
}

double collective_ns(const CollectiveWork& work, const CollectiveTerms& terms) {
  return collective_formula_ns(work, terms) * terms.measured.correction(coordinates_of(work));
}

ShapeTable::Coordinates coordinates_of(const CollectiveWork& work) {
  return {octaves(static_cast<double>(work.bytes.value)), 0, 0};
}

CostBreakdown explain_collective(const CollectiveWork& work, const CollectiveTerms& terms) {
  const auto bytes = static_cast<double>(work.bytes.value);
  std::string formula = fmt::format(
      "{} + {} * {:.4g} / {} + {:.4g} us/sqrt(B) * sqrt({}){}", time_text(terms.latency_ns),
      bytes_text(bytes), bus_factor(work.kind, work.ranks), rate_text(terms.bandwidth),
      terms.ns_per_root_byte / 1000, work.bytes.value, correction_text(terms.measured, coordinates_of(work)));
  if (work.ranks <= 1) formula = "a group of one";
  return {collective_ns(work, terms),
          fmt::format("{} over {} ranks", to_string(work.kind), work.ranks),
          std::move(formula),
          {}};
}

}  // namespace shardlab
