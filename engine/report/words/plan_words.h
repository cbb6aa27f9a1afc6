// Instructions and buffers of a plan in words: "backward of layer 47", "the teacher's logits".
//
// The words say what the plan alone knows, so that a stored run reads like a planned one. They stand beside
// the names of the plan's text form ("78 Backward s10 mb0", "act.s49.mb1") and never replace them there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/report/words/place_words.h"

namespace shardlab {

// What a buffer holds, in parts, so that alike buffers can be added up.
struct BufferPhrase {
  std::string what;                 // "saved activations", "the teacher's logits"
  std::optional<ModelPlace> place;  // the part of the model that they belong to
  std::string batch;                // "micro-batch 2 of 4"; empty where a step has one

  friend bool operator==(const BufferPhrase&, const BufferPhrase&) = default;
};
std::string to_words(const BufferPhrase& phrase);

class PlanWords {
 public:
  explicit PlanWords(const StepPlan& plan);  // which must outlive it

  const ModelPlace& unit(UnitId id) const { return units_[id.index()]; }
  const ModelPlace& segment(SegmentId id) const { return segments_[id.index()]; }
  BufferPhrase buffer(BufferId id) const;

  // "backward of layer 47, micro-batch 2 of 4", "release of the saved activations of layer 3".
  std::string instruction(InstructionId id) const;
  // "backward of 31 layers", "forward of parts of the model": of instructions that differ in the number of
  // their layer, in their micro-batch and in which part it is.
  std::string instructions(InstructionId one, int layers) const;
  // The part of the model that it is about; none where that is a buffer, or all of the step.
  std::optional<ModelPlace> place(InstructionId id) const;
  // The same where room is scarce: "bwd layer 47", "gather layer 3", "optimizer"; without the micro-batch.
  std::string brief(InstructionId id) const;

 private:
  BufferPhrase tensor(const Buffer& buffer) const;
  std::string object(InstructionId id) const;
  std::string batch(std::optional<int> micro_batch) const;

  const StepPlan& plan_;
  std::vector<ModelPlace> units_, segments_;
  std::vector<std::optional<SegmentId>> maker_;  // by TensorId: the segment whose forward makes it
  std::optional<SegmentId> teachers_last_;
};

}  // namespace shardlab
