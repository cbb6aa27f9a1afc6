// The parameter side of `native`: each rank's part goes straight to its place in the flat vector that compute
// reads; nothing is copied in or out. Private to this folder.
#pragma once

#include <vector>

#include "engine/strategies/native/native_unit.h"

namespace shardlab::native {

class Gather {
 public:
  Gather(StepBuilder& builder, const Streams& streams, const Mesh& mesh, std::vector<NativeUnit>& units)
      : b_(builder), streams_(streams), mesh_(mesh), units_(units) {}

  // The stream of gathers waits for what compute did so far: the optimizer of the step before.
  void begin_step() { b_.wait(streams_.gather, StepBuilder::compute()); }
  // Issues the gather unless the parameters are there or on their way.
  void unshard(UnitId unit);
  // Compute waits for it.
  void wait(UnitId unit);
  // Gives the parameters back; the stream of gathers, and with it the next gather, waits until compute has
  // read them. So at most as many units are whole as are gathered ahead, plus one.
  void reshard(UnitId unit);

 private:
  InstructionId cast(const NativeUnit& state, UnitId unit);
  InstructionId gather(const NativeUnit& state, UnitId unit);

  StepBuilder& b_;
  const Streams& streams_;
  const Mesh& mesh_;
  std::vector<NativeUnit>& units_;
};

}  // namespace shardlab::native
