// What every segment's programs must satisfy.
#pragma once

#include <vector>

#include "engine/model/partition.h"
#include "tests/catch.h"

namespace shardlab::test {

// Every storage is made before it is used and freed at most once; what is internal to a program or kept for
// it is gone at its end.
inline void check_balance(const Segment& segment, const Program& program,
                          const std::vector<ValueIndex>& keeps) {
  std::vector<bool> live(program.values.size()), made_here(program.values.size()),
      kept(program.values.size());
  for (const ValueIndex value : keeps) kept[value] = true;
  for (const ProgramStep& step : program.steps) {
    for (const ValueIndex value : step.allocates) made_here[value] = true;
  }
  for (std::size_t i = 0; i < live.size(); ++i)
    live[i] = !made_here[i] && program.values[i].origin != ValueOrigin::internal;
  for (const ProgramStep& step : program.steps) {
    for (const ValueIndex value : step.allocates) {
      CHECK_FALSE(live[value]);
      live[value] = true;
    }
    for (const auto* list :
         {&step.operands, &step.results, &step.saved_inputs, &step.saved_outputs, &step.extras}) {
      for (const ValueIndex value : *list) CHECK((value == k_no_value || live[value]));
    }
    for (const ValueIndex value : step.frees) {
      CHECK(live[value]);
      live[value] = false;
    }
  }
  for (std::size_t i = 0; i < live.size(); ++i) {
    const ValueOrigin origin = program.values[i].origin;
    INFO(segment.name << " value " << i);
    if (origin == ValueOrigin::saved) CHECK_FALSE(live[i]);
    if (origin == ValueOrigin::internal) CHECK(live[i] == kept[i]);
  }
}

inline void check_balance(const Segment& segment) {
  INFO(segment.name);
  const SegmentPrograms& programs = segment.programs;
  check_balance(segment, programs.keeper(), programs.keeps);
  if (programs.recomputed) check_balance(segment, programs.forward, {});
  check_balance(segment, programs.backward, {});
  Bytes kept;
  for (const ValueIndex value : programs.keeps) kept += programs.keeper().values[value].bytes;
  CHECK(kept == programs.saved_bytes);
}

}  // namespace shardlab::test
