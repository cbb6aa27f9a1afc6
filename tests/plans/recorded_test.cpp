// The collectives of plans between the marks of modules, against those recorded from real PyTorch and
// DeepSpeed, first and later steps.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/plan/group_ranks.h"
#include "tests/catch.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

// "embed", "L0", "head": the module an operator belongs to, in the recorder's words; empty for others.
std::string label_of(const ModelGraph& graph, OperatorId op) {
  const std::string& path = graph.module(graph.op(op).module).path;
  constexpr std::string_view k_layers = "model.layers.";
  if (path.rfind("model.embed_tokens", 0) == 0) return "embed";
  if (path.rfind("lm_head", 0) == 0) return "head";
  if (path.rfind(k_layers, 0) != 0) return {};
  const std::string rest = path.substr(k_layers.size());
  return "L" + rest.substr(0, rest.find('.'));
}

class Shorthand {
 public:
  // `one_tail`: the recorder marked the update as a whole, not the clipping and the optimizer in it.
  Shorthand(const PlannedScenario& planned, const StepPlan& plan, bool one_tail)
      : planned_(planned), plan_(plan), one_tail_(one_tail) {}

  std::string write() {
    for (const Instruction& instruction : plan_.instructions) put(instruction);
    return fmt::format("{}", fmt::join(words_, " "));
  }

 private:
  void put(const Instruction& instruction) {
    switch (instruction.kind) {
      case InstructionKind::LoadBatch:
        if (plan_.micro_batches > 1) words_.emplace_back("|micro");
        marked_.clear();
        break;
      case InstructionKind::Forward: marks('F', instruction); break;
      case InstructionKind::Recompute: recompute(instruction); break;
      case InstructionKind::Backward: marks('B', instruction); break;
      case InstructionKind::AllGather: collective("AG", instruction); break;
      case InstructionKind::ReduceScatter: collective("RS", instruction); break;
      case InstructionKind::AllReduce: collective("AR", instruction); break;
      case InstructionKind::Reduce: collective("RED", instruction); break;
      case InstructionKind::CheckFinite: tail("|optimizer"); break;
      case InstructionKind::GradientNorms: tail(one_tail_ ? "|optimizer" : "|clip"); break;
      case InstructionKind::OptimizerStep: tail("|optimizer"); break;
      default: break;
    }
  }

  void tail(const char* mark) {
    if (!one_tail_ || marked_.insert(mark).second) words_.emplace_back(mark);
  }

  // Unless it is reentrant, a region is run again once its backward has begun.
  void recompute(const Instruction& instruction) {
    const Partition& partition = planned_.partition;
    const Region& region = partition.region(*partition.segment(*instruction.segment).region);
    if (!region.operators.reentrant) marks('B', instruction);
    if (!one_tail_) marks('R', instruction);  // DeepSpeed's recorder has no mark of it
  }

  // Every module begins once in a pass, although units may cut it.
  void marks(char direction, const Instruction& instruction) {
    const Segment& segment = planned_.partition.segment(*instruction.segment);
    std::vector<std::string> labels;
    for (OperatorId op = segment.begin; op < segment.end; ++op.value)
      labels.push_back(label_of(planned_.graph, op));
    if (direction == 'B') std::reverse(labels.begin(), labels.end());
    for (const std::string& label : labels) {
      if (!label.empty() && marked_.insert(direction + label).second)
        words_.push_back(fmt::format("{}:{}", direction, label));
    }
    const bool ends_forward =
        direction == 'F' && instruction.segment->index() + 1 == planned_.partition.segments.size();
    if (ends_forward) words_.emplace_back("|backward_begin");
  }

  void collective(const char* kind, const Instruction& instruction) {
    const Group& group = plan_.groups[instruction.group->index()];
    if (group.size == 1) return;
    std::string word = fmt::format("{}({}", kind, instruction.bytes.value);
    if (instruction.kind == InstructionKind::Reduce) word += fmt::format(">{}", instruction.root);
    if (group.size < plan_.world_size) {
      word += fmt::format("@{}", fmt::join(ranks_of_group(group, planned_.scenario, 0), ","));
    }
    words_.push_back(word + ")");
  }

  const PlannedScenario& planned_;
  const StepPlan& plan_;
  const bool one_tail_;
  std::vector<std::string> words_;
  std::set<std::string> marked_;
};

}  // namespace

TEST_CASE("collectives equal those recorded from the framework") {
  for (const PlanCase& recorded : read_cases("recorded")) {
    DYNAMIC_SECTION(recorded.name) {
      const PlannedScenario planned = plan_small_llama(recorded.overrides);
      const bool one_tail = value_of(recorded, "tail") == "step";
      const auto shorthand = [&](const StepPlan& plan) { return Shorthand(planned, plan, one_tail).write(); };
      CHECK(shorthand(planned.plan.first) == value_of(recorded, "first"));
      CHECK(shorthand(planned.plan.step(1)) == value_of(recorded, "steady"));
      CHECK(shorthand(planned.plan.steady) == value_of(recorded, "steady"));
    }
  }
}

}  // namespace shardlab::test
