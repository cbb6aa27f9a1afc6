// The collectives that micro-benchmarks time, as the names of probes and of their coefficients say them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/words.h"
#include "engine/plan/instruction_words.h"

namespace shardlab {

enum class ProbedCollective : std::uint8_t { all_gather, reduce_scatter, all_reduce };
template <>
inline constexpr auto k_words<ProbedCollective> =
    std::to_array<Word<ProbedCollective>>({{ProbedCollective::all_gather, "all_gather"},
                                           {ProbedCollective::reduce_scatter, "reduce_scatter"},
                                           {ProbedCollective::all_reduce, "all_reduce"}});

constexpr InstructionKind instruction_of(ProbedCollective collective) {
  switch (collective) {
    case ProbedCollective::all_gather: return InstructionKind::AllGather;
    case ProbedCollective::reduce_scatter: return InstructionKind::ReduceScatter;
    case ProbedCollective::all_reduce: break;
  }
  return InstructionKind::AllReduce;
}

}  // namespace shardlab
