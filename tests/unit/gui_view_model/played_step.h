// The step of a small scenario, as the step player shows it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gui/view_model/player/rank_board.h"
#include "tests/unit/gui_view_model/real_runs.h"

namespace shardlab::test {

struct PlayedStep {
  PlannedScenario planned;
  std::unique_ptr<view::RankBoard> board;

  const StepPlan& plan() const { return planned.plan.steady; }
  const Instruction& instruction(InstructionId id) const { return plan().instruction(id); }
  // The instruction of this kind and unit, counted from 0.
  InstructionId find(InstructionKind kind, std::string_view unit, int which = 0) const {
    for (std::size_t i = 0; i < plan().instructions.size(); ++i) {
      const Instruction& each = plan().instructions[i];
      const bool is_it = each.kind == kind && each.unit && plan().units[each.unit->index()].name == unit;
      if (is_it && which-- == 0) return make_id<InstructionId>(i);
    }
    FAIL("no such instruction");
    return {};
  }
  // While it has done so much of its work.
  view::BoardFrame frame(InstructionId id, double progress) const {
    view::StepPlayer player(plan());
    player.seek(id.index(), progress);
    return board->frame(player);
  }
};

// A Llama of width 64 with two layers, or with as many as the settings say, on two processors.
inline PlayedStep played_step(const std::vector<std::string>& settings) {
  constexpr const char* k_scenario =
      "name: small\nmodel: {config: small_llama.json, sequence_length: 16, overrides: {num_hidden_layers: "
      "2}}\n"
      "cluster: {device: cpu, ranks: 2}\nparallel: {strategy: fsdp2}\ntrain: {micro_batch: 2}\n";
  const auto scenario = parse_scenario(k_scenario, data_file("plans/small.yaml").string(), settings);
  REQUIRE_OK(scenario);
  auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  PlayedStep step{*std::move(planned), nullptr};
  step.board = std::make_unique<view::RankBoard>(step.plan(), step.planned.scenario);
  return step;
}

// What a rank has of the buffer; fails where it is not alive.
inline view::BufferContent content_of(const PlayedStep& step, const view::BoardFrame& frame, std::size_t lane,
                                      std::string_view buffer) {
  for (std::size_t i = 0; i < frame.buffers.buffers.size(); ++i) {
    if (step.plan().buffer(frame.buffers.buffers[i].buffer).name == buffer)
      return frame.lanes.at(lane).contents.at(i);
  }
  FAIL("not alive: " << buffer);
  return {};
}

}  // namespace shardlab::test
