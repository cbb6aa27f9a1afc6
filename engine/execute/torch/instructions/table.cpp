#include <array>

#include <fmt/format.h>

#include "engine/execute/torch/instructions/action.h"

namespace shardlab {
namespace {

struct Row {
  InstructionKind kind;
  PrepareFunction prepare;
};

constexpr std::array k_table = {
    Row{InstructionKind::Accumulate, prepare_accumulate},
    Row{InstructionKind::AllGather, prepare_collective},
    Row{InstructionKind::AllReduce, prepare_collective},
    Row{InstructionKind::Alloc, prepare_nothing},
    Row{InstructionKind::Backward, prepare_segment},
    Row{InstructionKind::Broadcast, prepare_collective},
    Row{InstructionKind::Cast, prepare_copy},
    Row{InstructionKind::ClipGradients, prepare_clip_gradients},
    Row{InstructionKind::Copy, prepare_copy},
    Row{InstructionKind::CheckFinite, prepare_check_finite},
    Row{InstructionKind::Forward, prepare_segment},
    Row{InstructionKind::Free, prepare_nothing},
    Row{InstructionKind::GradientNorms, prepare_gradient_norms},
    Row{InstructionKind::HostWait, prepare_nothing},
    Row{InstructionKind::Initialize, prepare_initialize},
    Row{InstructionKind::LoadBatch, prepare_load_batch},
    Row{InstructionKind::Marker, prepare_nothing},
    Row{InstructionKind::OptimizerStep, prepare_optimizer_step},
    Row{InstructionKind::Pack, prepare_copy},
    Row{InstructionKind::Recompute, prepare_segment},
    Row{InstructionKind::Reduce, prepare_collective},
    Row{InstructionKind::ReduceScatter, prepare_collective},
    Row{InstructionKind::Unpack, prepare_copy},
    Row{InstructionKind::Unscale, prepare_unscale},
    Row{InstructionKind::ZeroGradients, prepare_zero_gradients},
};

}  // namespace

PreparedAction prepare_action(const Site& site) {
  const InstructionKind kind = site.instruction().kind;
  for (const Row& row : k_table) {
    if (row.kind == kind) return row.prepare(site);
  }
  return not_possible(instruction_label(site.plan, site.id),
                      fmt::format("not supported yet: {} in a real run", to_string(kind)),
                      "simulate it instead");
}

PreparedAction prepare_nothing(const Site&) {
  return nullptr;
}

}  // namespace shardlab
