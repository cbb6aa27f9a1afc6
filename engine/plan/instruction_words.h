// What an instruction of a plan can be: its kind, reduction and guard, with their words.
#pragma once

#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

enum class InstructionKind : std::uint8_t {
  Forward,
  Recompute,
  Backward,
  AllGather,
  ReduceScatter,
  Reduce,
  AllReduce,
  Broadcast,
  AllToAll,
  Cast,      // writes = reads in another dtype, element by element
  Pack,      // parameters' pieces into one communication buffer (copy-in)
  Unpack,    // a communication buffer into parameters' pieces (copy-out)
  Quantize,  // numbers into few bits with a scale for each block, out of them again, or both
  Copy,
  Accumulate,  // writes += reads
  Alloc,
  Free,
  HostWait,
  GradientNorms,  // per-parameter squared norms of gradient shards
  Unscale,
  CheckFinite,  // writes whether any of the gradients it reads is not finite
  ClipGradients,
  OptimizerStep,
  ZeroGradients,
  Initialize,  // parameter shards from the seed or a checkpoint
  LoadBatch,
  Marker,
};
template <>
inline constexpr auto k_words<InstructionKind> =
    std::to_array<Word<InstructionKind>>({{InstructionKind::Forward, "Forward"},
                                          {InstructionKind::Recompute, "Recompute"},
                                          {InstructionKind::Backward, "Backward"},
                                          {InstructionKind::AllGather, "AllGather"},
                                          {InstructionKind::ReduceScatter, "ReduceScatter"},
                                          {InstructionKind::Reduce, "Reduce"},
                                          {InstructionKind::AllReduce, "AllReduce"},
                                          {InstructionKind::Broadcast, "Broadcast"},
                                          {InstructionKind::AllToAll, "AllToAll"},
                                          {InstructionKind::Cast, "Cast"},
                                          {InstructionKind::Pack, "Pack"},
                                          {InstructionKind::Unpack, "Unpack"},
                                          {InstructionKind::Quantize, "Quantize"},
                                          {InstructionKind::Copy, "Copy"},
                                          {InstructionKind::Accumulate, "Accumulate"},
                                          {InstructionKind::Alloc, "Alloc"},
                                          {InstructionKind::Free, "Free"},
                                          {InstructionKind::HostWait, "HostWait"},
                                          {InstructionKind::GradientNorms, "GradientNorms"},
                                          {InstructionKind::Unscale, "Unscale"},
                                          {InstructionKind::CheckFinite, "CheckFinite"},
                                          {InstructionKind::ClipGradients, "ClipGradients"},
                                          {InstructionKind::OptimizerStep, "OptimizerStep"},
                                          {InstructionKind::ZeroGradients, "ZeroGradients"},
                                          {InstructionKind::Initialize, "Initialize"},
                                          {InstructionKind::LoadBatch, "LoadBatch"},
                                          {InstructionKind::Marker, "Marker"}});

enum class ReduceOperation : std::uint8_t { none, sum, average, maximum };
template <>
inline constexpr auto k_words<ReduceOperation> =
    std::to_array<Word<ReduceOperation>>({{ReduceOperation::none, "none"},
                                          {ReduceOperation::sum, "sum"},
                                          {ReduceOperation::average, "average"},
                                          {ReduceOperation::maximum, "maximum"}});

// Run-time condition agreed by all ranks; the simulator assumes the declared value. A guarded instruction
// reads the flag in role found_inf, which Unscale or CheckFinite writes and the ranks join; it is skipped
// where that is not zero.
enum class Guard : std::uint8_t { none, gradients_finite };
template <>
inline constexpr auto k_words<Guard> = std::to_array<Word<Guard>>({{Guard::gradients_finite,
                                                                    "gradients_finite"}});

constexpr bool is_collective(InstructionKind kind) {
  return kind == InstructionKind::AllGather || kind == InstructionKind::ReduceScatter ||
         kind == InstructionKind::Reduce || kind == InstructionKind::AllReduce ||
         kind == InstructionKind::Broadcast || kind == InstructionKind::AllToAll;
}

// Runs a program of a segment.
constexpr bool runs_segment(InstructionKind kind) {
  return kind == InstructionKind::Forward || kind == InstructionKind::Recompute ||
         kind == InstructionKind::Backward;
}

// Releases or takes memory, or blocks the host; occupies no device time.
constexpr bool is_host_only(InstructionKind kind) {
  return kind == InstructionKind::Alloc || kind == InstructionKind::Free ||
         kind == InstructionKind::HostWait || kind == InstructionKind::Marker;
}

}  // namespace shardlab
