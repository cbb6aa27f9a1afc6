// What is chosen, shared by all panels: choosing in one chooses in all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "engine/plan/step_plan.h"
#include "engine/trace/run_entry.h"

namespace shardlab::gui {

// Ids belong to the steady plan with this hash, so that a choice in one plan is not shown in another.
struct SelectedInstruction {
  std::string plan_hash;
  InstructionId id;
  friend bool operator==(const SelectedInstruction&, const SelectedInstruction&) = default;
};

// A range on the time axis that timeline and memory share, from the start of the step.
struct TimeRange {
  Nanoseconds begin;
  Nanoseconds end;
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

class Selection {
 public:
  const std::optional<SelectedInstruction>& instruction() const { return instruction_; }
  const std::vector<RunId>& runs() const { return runs_; }
  const std::optional<TimeRange>& visible_time() const { return visible_time_; }

  // The chosen instruction when it belongs to the plan with this hash.
  std::optional<InstructionId> in_plan(const std::string& plan_hash) const {
    if (!instruction_ || instruction_->plan_hash != plan_hash) return std::nullopt;
    return instruction_->id;
  }

  void choose(std::optional<SelectedInstruction> instruction) {
    if (instruction == instruction_) return;
    instruction_ = std::move(instruction);
    played_ = 1;
    ++instruction_changes_;
  }
  // How much of the chosen instruction the step player shows as done, 0 to 1.
  double played() const { return played_; }
  void show_played(double share) {
    played_ = share;
    ++instruction_changes_;
  }
  void choose_runs(std::vector<RunId> runs) { runs_ = std::move(runs); }
  void show_time(std::optional<TimeRange> range) { visible_time_ = range; }

  // A class of buffer, by its word, that plots of memory show before the others; empty: none.
  const std::string& highlight() const { return highlight_; }
  void show_highlight(std::string word) { highlight_ = std::move(word); }

  // Which step's plan is wanted, of panels that show others than the steady one, and an instruction of it
  // where it is another one.
  struct WantedStep {
    PlanPhase phase = PlanPhase::steady;
    std::optional<InstructionId> instruction;
  };
  const WantedStep& step() const { return step_; }
  void choose_step(WantedStep step) {
    step_ = step;
    ++step_changes_;
  }
  std::uint64_t step_changes() const { return step_changes_; }

  // A lesson that is to be opened: its number, a part of its name, a folder; at a step, or, 0, where it was
  // left.
  struct WantedLesson {
    std::string lesson;
    int step = 0;
  };
  const WantedLesson& lesson() const { return lesson_; }
  void choose_lesson(WantedLesson lesson) {
    lesson_ = std::move(lesson);
    ++lesson_changes_;
  }
  std::uint64_t lesson_changes() const { return lesson_changes_; }

  // A key of the scenario, or the beginning of several, that the form is to show.
  const std::string& setting() const { return setting_; }
  void choose_setting(std::string key) {
    setting_ = std::move(key);
    ++setting_changes_;
  }
  std::uint64_t setting_changes() const { return setting_changes_; }

  // Grows when another instruction is chosen: a panel that scrolls to it compares with what it saw last.
  std::uint64_t instruction_changes() const { return instruction_changes_; }

 private:
  std::optional<SelectedInstruction> instruction_;
  std::vector<RunId> runs_;
  std::optional<TimeRange> visible_time_;
  double played_ = 1;
  std::uint64_t instruction_changes_ = 0;
  std::string setting_;
  std::uint64_t setting_changes_ = 0;
  WantedLesson lesson_;
  std::uint64_t lesson_changes_ = 0;
  WantedStep step_;
  std::string highlight_;
  std::uint64_t step_changes_ = 0;
};

}  // namespace shardlab::gui
