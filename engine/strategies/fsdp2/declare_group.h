// The buffers of one FSDP2 parameter group. Private to this folder.
#pragma once

#include "engine/strategies/fsdp2/unit_state.h"

namespace shardlab::fsdp2 {

// In the setup plan only what lives across steps; it is initialised there.
UnitState declare_group(StepBuilder& builder, UnitId unit, const Scenario& scenario, const Mesh& mesh,
                        const Streams& streams);

}  // namespace shardlab::fsdp2
