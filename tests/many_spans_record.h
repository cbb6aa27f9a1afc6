// A run of five thousand spans, for databases as large as years of use make them.
#pragma once

#include "tests/hand_made_record.h"

namespace shardlab::test {

inline constexpr int k_many_spans_instructions = 500;
inline constexpr int k_many_spans_steps = 10;

// One rank, ten steps of 500 instructions.
inline RunRecord many_spans_record() {
  RunRecord run = hand_made_record("large", RunKind::measured, k_many_spans_steps);
  run.plan.steady.instructions.assign(k_many_spans_instructions,
                                      hand_made_instruction(InstructionKind::Marker, 0, {}));
  run.summary.plan_hash = plan_hash(run.plan.steady);
  run.trace.warmup.clear();
  for (StepTrace& step : run.trace.steps) {
    step.plan_hash = run.summary.plan_hash;
    step.ranks.resize(1);
    step.ranks[0].spans.clear();
    for (std::uint32_t i = 0; i < k_many_spans_instructions; ++i) {
      const std::int64_t start = 1'000'000LL * i + 7919LL * (i % 13);
      step.ranks[0].spans.push_back(hand_made_span(i, start, start + 1000, start + 2000, start + 900'000));
    }
  }
  return run;
}

}  // namespace shardlab::test
