// A record of a run of hand_made_run.h, ready to be stored.
#pragma once

#include <string>
#include <utility>

#include "engine/store/run_record.h"
#include "engine/trace/memory_timeline.h"
#include "tests/hand_made_run.h"

namespace shardlab::test {

inline RunRecord hand_made_record(std::string name = "tiny", RunKind kind = RunKind::measured,
                                  int steps = 2) {
  RunRecord run;
  run.name = std::move(name);
  run.created = 1772373900;
  run.scenario_yaml = "name: " + run.name + "\n";
  run.plan = {hand_made_plan(PlanPhase::setup), hand_made_plan(PlanPhase::first), std::nullopt,
              hand_made_plan()};
  run.trace.provenance = {
      kind, true, "cal-1", "2 x some processor", {{"shardlab", "0.1.0"}}, {"even experts"}, {"data loading"}};
  StepTrace first = hand_made_step(0, 2);
  first.plan_hash = plan_hash(run.plan.first);
  run.trace.warmup = {first, hand_made_step(1, 2)};
  for (int i = 0; i < steps; ++i) run.trace.steps.push_back(hand_made_step(2 + i, 2));
  run.trace.steps[0].ranks[1].gradient_norm = 0.75;
  run.trace.steps[0].ranks[1].start_offset = {25};
  run.trace.steps[0].ranks[0].spans[3].skipped = true;
  run.trace.losses = {4, 3.5, 3};
  run.trace.gradient_norms = {2, 1};
  run.summary.kind = kind;
  run.summary.plan_hash = plan_hash(run.plan.steady);
  run.summary.ranks = 2;
  run.summary.step_time = {{510}, {500}, {520}, steps};
  run.summary.tokens_per_second = 1234.5;
  run.summary.mfu = 0.25;
  run.summary.exposed_communication = {140};
  run.summary.memory = summarize_memory(run.plan.steady, run.trace.steps);
  run.summary.memory_limit = Bytes{1000};
  run.summary.fits = Fit::yes;
  run.summary.losses = run.trace.losses;
  run.summary.gradient_norms = run.trace.gradient_norms;
  run.summary.calibrated = true;
  run.tags = {"base", "kept"};
  run.note = "the first one";
  return run;
}

}  // namespace shardlab::test
