// What the instructions of a plan do.
#include <utility>

#include <fmt/format.h>

#include "engine/report/words/plan_words.h"

namespace shardlab {
namespace {

// What it does to its object; empty where `whole` says it all.
struct Verb {
  std::string_view of;
  std::string_view whole = {};
};

Verb verb(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::Forward: return {"forward"};
    case InstructionKind::Recompute: return {"recomputation"};
    case InstructionKind::Backward: return {"backward"};
    case InstructionKind::AllGather: return {"all-gather"};
    case InstructionKind::ReduceScatter: return {"reduce-scatter"};
    case InstructionKind::Reduce: return {"reduce"};
    case InstructionKind::AllReduce: return {"all-reduce"};
    case InstructionKind::Broadcast: return {"broadcast"};
    case InstructionKind::AllToAll: return {"all-to-all"};
    case InstructionKind::Cast: return {"cast"};
    case InstructionKind::Pack: return {"packing"};
    case InstructionKind::Unpack: return {"unpacking"};
    case InstructionKind::Quantize: return {"quantization"};
    case InstructionKind::Copy: return {"copy"};
    case InstructionKind::Accumulate: return {"accumulation"};
    case InstructionKind::Alloc: return {"allocation"};
    case InstructionKind::Free: return {"release"};
    case InstructionKind::Initialize: return {"initialization"};
    case InstructionKind::HostWait: return {{}, "wait of the host"};
    case InstructionKind::GradientNorms: return {{}, "norms of the gradients"};
    case InstructionKind::Unscale: return {{}, "unscaling of the gradients"};
    case InstructionKind::CheckFinite: return {{}, "search for gradients that are not finite"};
    case InstructionKind::ClipGradients: return {{}, "clipping of the gradients"};
    case InstructionKind::OptimizerStep: return {{}, "optimizer step"};
    case InstructionKind::ZeroGradients: return {{}, "clearing of the gradients"};
    case InstructionKind::LoadBatch: return {{}, "loading of the batch"};
    case InstructionKind::Marker: return {{}, "marker"};
  }
  return {};
}

const std::vector<BufferId>* touched(const Instruction& self) {
  for (const auto* list : {&self.frees, &self.allocates, &self.writes, &self.reads})
    if (!list->empty()) return list;
  return nullptr;
}

std::string done_to(InstructionKind kind, const std::string& object) {
  const Verb its = verb(kind);
  if (!its.whole.empty()) return std::string(its.whole);
  return object.empty() ? std::string(its.of) : fmt::format("{} of {}", its.of, object);
}

bool is_of_buffers(InstructionKind kind) {
  return kind == InstructionKind::Free || kind == InstructionKind::Alloc;
}

}  // namespace

std::optional<ModelPlace> PlanWords::place(InstructionId id) const {
  const Instruction& self = plan_.instruction(id);
  if (runs_segment(self.kind) && self.segment && self.segment->index() < plan_.segments.size())
    return segment(*self.segment);
  const bool has_unit = self.unit && self.unit->index() < plan_.units.size();
  if (has_unit && (!is_of_buffers(self.kind) || touched(self) == nullptr)) return unit(*self.unit);
  return std::nullopt;
}

// A part of the model where there is one; else the first buffer that it touches.
std::string PlanWords::object(InstructionId id) const {
  if (const std::optional<ModelPlace> its = place(id)) return to_words(*its);
  const Instruction& self = plan_.instruction(id);
  const std::vector<BufferId>* const buffers = touched(self);
  if (buffers == nullptr) return {};
  BufferPhrase phrase = buffer(buffers->front());
  phrase.batch.clear();  // the instruction's own says it
  std::string text = to_words(phrase);
  if (buffers->size() > 1 && is_of_buffers(self.kind))
    text += fmt::format(" and {} more", buffers->size() - 1);
  return text;
}

std::string PlanWords::instruction(InstructionId id) const {
  const Instruction& self = plan_.instruction(id);
  const std::string text = done_to(self.kind, object(id));
  const std::string its_batch = batch(self.micro_batch);
  return its_batch.empty() ? text : text + ", " + its_batch;
}

std::string PlanWords::instructions(InstructionId one, int layers) const {
  std::optional<ModelPlace> its = place(one);
  if (!its) return done_to(plan_.instruction(one).kind, object(one));
  const bool cut = !std::exchange(its->part, {}).empty();
  const std::string where = layers > 1 && its->layer ? to_words(*its, layers) : to_words(*its);
  return done_to(plan_.instruction(one).kind, cut ? "parts of " + where : where);
}

}  // namespace shardlab
