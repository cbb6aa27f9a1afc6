#include "simulator/memory/allocations/gradient_copies.h"

#include <algorithm>

#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/zero_options.h"

namespace shardlab {
namespace {

// ZeRO-1 takes gradients in the order of definition, when all of them are there; else they are taken as
// backward makes them.
bool takes_in_order(const PlannedScenario& planned) {
  return facts_of(planned.scenario).zero_stage == 1 && !zero_options(planned.scenario).overlaps(1);
}

// That owns most elements of one parameter. Equals: the one whose gradients come first.
std::int64_t rank_of_largest(const ParameterLayout& layout, bool in_order) {
  const std::int64_t part = layout.flat_shard_elements();
  std::int64_t found = 0, most = 0;
  for (const ParameterPiece& piece : layout.pieces) {
    const std::int64_t last = (piece.flat_offset + std::max<std::int64_t>(piece.elements(), 1) - 1) / part;
    for (std::int64_t rank = piece.flat_offset / part; rank <= last; ++rank) {
      const std::int64_t owned = part_in(piece, rank * part, part).count;
      if (owned < most || (owned == most && in_order)) continue;
      most = owned;
      found = rank;
    }
  }
  return found;
}

const Buffer* flat_weights(const StepPlan& plan) {
  const auto found = std::find_if(plan.buffers.begin(), plan.buffers.end(), [](const Buffer& buffer) {
    return buffer.buffer_class == BufferClass::parameter && buffer.layout == BufferLayout::flat;
  });
  return found == plan.buffers.end() ? nullptr : &*found;
}

// The buffer in which the instruction widens what it reads.
std::optional<BufferId> widened_by(const StepPlan& plan, const Instruction& instruction) {
  const InstructionKind kind = instruction.kind;
  const bool widens =
      kind == InstructionKind::Unpack || kind == InstructionKind::Accumulate || kind == InstructionKind::Cast;
  if (!widens || instruction.reads.empty()) return std::nullopt;
  const Buffer& read = plan.buffer(instruction.reads.front());
  for (const BufferId id : instruction.allocates) {
    const Buffer& made = plan.buffer(id);
    const bool is_opaque = made.layout == BufferLayout::opaque && made.space == MemorySpace::device;
    if (is_opaque && made.dtype == DType::float32 && read.dtype != DType::float32) return id;
  }
  return std::nullopt;
}

}  // namespace

GradientCopies::GradientCopies(const PlannedScenario& planned, const StepPlan& plan)
    : planned_(planned), plan_(plan) {
  const int stage = facts_of(planned.scenario).zero_stage;
  makes_them_ = stage > 1 || (stage == 1 && !takes_bf16_optimizer(planned.scenario));
  of_all_ranks_ = stage == 3;
  const Buffer* weights = makes_them_ && !of_all_ranks_ ? flat_weights(plan) : nullptr;
  if (weights == nullptr) return;
  weights_ = make_layout(planned.graph, *weights);
  piece_of_.resize(planned.graph.parameters.size());
  for (std::size_t i = 0; i < weights_->pieces.size(); ++i)
    piece_of_[weights_->pieces[i].parameter.index()] = i;
  rank_ = rank_of_largest(*weights_, takes_in_order(planned));
}

std::vector<Bytes> GradientCopies::of(const Instruction& instruction) const {
  std::vector<Bytes> copies;
  if (!makes_them_) return copies;
  const bool measures = instruction.kind == InstructionKind::GradientNorms;
  const bool widens = !of_all_ranks_ && widened_by(plan_, instruction);
  if (!measures && !widens) return copies;
  const Buffer& read = plan_.buffer(instruction.reads.front());
  if (read.space != MemorySpace::device) return copies;
  const bool leaves = instruction.kind == InstructionKind::Cast;  // for the host
  for (const std::int64_t elements : owned_elements(read)) {
    if (measures || leaves) copies.push_back(bytes_of(elements, DType::float64));
    if (widens) copies.push_back(bytes_of(elements, DType::float32));
  }
  return copies;
}

std::vector<BufferId> GradientCopies::replaced() const {
  std::vector<BufferId> replaced;
  if (!weights_) return replaced;
  for (const Instruction& instruction : plan_.instructions) {
    if (const std::optional<BufferId> widened = widened_by(plan_, instruction)) replaced.push_back(*widened);
  }
  return replaced;
}

std::vector<std::int64_t> GradientCopies::owned_elements(const Buffer& gradients) const {
  if (weights_) return owned_in(gradients);
  std::vector<std::int64_t> owned;
  if (gradients.layout != BufferLayout::element_shards) return owned;
  for (const ParameterPiece& piece : make_layout(planned_.graph, gradients).pieces)
    owned.push_back(piece.shard_elements());
  return owned;
}

// One gradient after the other, as they lie in the buffer.
std::vector<std::int64_t> GradientCopies::owned_in(const Buffer& gradients) const {
  const std::int64_t part = weights_->flat_shard_elements();
  const bool is_part = gradients.layout == BufferLayout::flat_shard;
  const std::int64_t begin = gradients.layout == BufferLayout::flat_range ? gradients.first : 0;
  const std::int64_t end = begin + gradients.elements;
  std::vector<std::int64_t> owned;
  std::int64_t offset = 0;  // of the gradient, in all that the buffer is a range of
  for (const ParameterId id : gradients.parameters) {
    const std::optional<std::size_t> at = piece_of_[id.index()];
    if (!at) continue;
    const FlatPart own = part_in(weights_->pieces[*at], rank_ * part, part);
    const std::int64_t first = std::max(begin, offset + own.first);
    const std::int64_t last = std::min(end, offset + own.first + own.count);
    const std::int64_t here = is_part ? own.count : last - first;
    if (here > 0) owned.push_back(here);
    offset += weights_->pieces[*at].elements();
  }
  return owned;
}

}  // namespace shardlab
