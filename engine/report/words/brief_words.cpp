// What the instructions of a plan do, in few letters.
#include <fmt/format.h>

#include "engine/report/words/plan_words.h"

namespace shardlab {
namespace {

struct BriefVerb {
  std::string_view text;
  bool has_object = true;
};

BriefVerb brief_verb(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::Forward: return {"fwd"};
    case InstructionKind::Recompute: return {"recompute"};
    case InstructionKind::Backward: return {"bwd"};
    case InstructionKind::AllGather: return {"gather"};
    case InstructionKind::ReduceScatter: return {"reduce"};
    case InstructionKind::Reduce: return {"reduce"};
    case InstructionKind::AllReduce: return {"all-reduce"};
    case InstructionKind::Broadcast: return {"broadcast"};
    case InstructionKind::AllToAll: return {"all-to-all"};
    case InstructionKind::Cast: return {"cast"};
    case InstructionKind::Pack: return {"pack"};
    case InstructionKind::Unpack: return {"unpack"};
    case InstructionKind::Quantize: return {"quantize"};
    case InstructionKind::Copy: return {"copy"};
    case InstructionKind::Accumulate: return {"add"};
    case InstructionKind::Alloc: return {"alloc"};
    case InstructionKind::Free: return {"free"};
    case InstructionKind::Initialize: return {"init"};
    case InstructionKind::HostWait: return {"wait", false};
    case InstructionKind::GradientNorms: return {"norms", false};
    case InstructionKind::Unscale: return {"unscale", false};
    case InstructionKind::CheckFinite: return {"finite?", false};
    case InstructionKind::ClipGradients: return {"clip", false};
    case InstructionKind::OptimizerStep: return {"optimizer"};
    case InstructionKind::ZeroGradients: return {"zero", false};
    case InstructionKind::LoadBatch: return {"batch", false};
    case InstructionKind::Marker: return {"marker", false};
  }
  return {};
}

std::string brief_place(const ModelPlace& place) {
  std::string text = place.layer ? fmt::format("layer {}", *place.layer) : place.rest;
  if (text.empty()) text = place.teachers ? std::string() : "model";
  if (!place.teachers) return text;
  return text.empty() ? "teacher" : "teacher " + text;
}

}  // namespace

std::string PlanWords::brief(InstructionId id) const {
  const Instruction& self = plan_.instruction(id);
  const BriefVerb its = brief_verb(self.kind);
  std::string text(its.text);
  if (!its.has_object) return text;
  if (runs_segment(self.kind) && self.segment && self.segment->index() < segments_.size())
    return text + " " + brief_place(segment(*self.segment));
  if (self.unit && self.unit->index() < units_.size()) return text + " " + brief_place(unit(*self.unit));
  return text;
}

}  // namespace shardlab
