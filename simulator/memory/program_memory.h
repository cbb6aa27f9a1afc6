// Memory of one segment's program relative to its start. Private to this folder.
#pragma once

#include <span>

#include "engine/model/segment/program.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

struct ProgramMemory {
  Bytes peak;
  Bytes end;
  BytesByClass at_peak{};
  BytesByClass at_end{};
};

// Classes as the real executor books them: border tensors are activations (the loss a scalar), their
// gradients activation gradients, what forward keeps activations, everything else lives inside the program
// only and is workspace. `keeps`: of a forward program. `workspaces`: how many threads take a step's
// workspace at once, 0 when another implementation runs; its temporaries are there in any case. At the start
// what forward kept and the incoming gradients exist; freeing them counts below zero. `gradients`: by step,
// of parameters, allocated before it and left alive; empty where the program makes none.
ProgramMemory follow_program(const Program& program, std::span<const ValueIndex> keeps, TensorId loss,
                             int workspaces, std::span<const Bytes> gradients = {});

}  // namespace shardlab
