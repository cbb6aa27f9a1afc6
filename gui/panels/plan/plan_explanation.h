// The lower part of the plan panel: one instruction in words, with links to those it speaks of.
#pragma once

#include <memory>
#include <optional>

#include "engine/report/explain/explanation.h"
#include "engine/report/words/plan_words.h"
#include "gui/shell/panel.h"

namespace shardlab::gui {

class PlanExplanation {
 public:
  // Returns the instruction whose link was clicked.
  std::optional<InstructionId> draw(const std::shared_ptr<const Prediction>& prediction, const StepPlan& plan,
                                    InstructionId id, const Theme& theme);

 private:
  void refresh(const std::shared_ptr<const Prediction>& prediction, const StepPlan& plan, InstructionId id);
  void draw_heading(const StepPlan& plan, const Theme& theme) const;
  void draw_facts(const StepPlan& plan, const Theme& theme);
  void draw_buffers(const char* label, const StepPlan& plan, const std::vector<BufferId>& ids);
  std::optional<InstructionId> draw_order(const StepPlan& plan);

  std::shared_ptr<const Prediction> shown_;
  const StepPlan* plan_ = nullptr;
  InstructionId id_;
  Explanation explanation_;
  std::optional<PlanWords> words_;  // of the plan
};

}  // namespace shardlab::gui
