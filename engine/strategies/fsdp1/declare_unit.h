// The buffers of one FSDP1 handle. Private to this folder.
#pragma once

#include "engine/strategies/fsdp1/flat_unit.h"

namespace shardlab::fsdp1 {

// In the setup plan only what lives across steps; it is initialised there.
FlatUnit declare_unit(StepBuilder& builder, UnitId unit, const Settings& settings, const Streams& streams);

// Elements of the flat parameter with its padding.
std::int64_t flat_elements(const StepBuilder& builder, UnitId unit, const Settings& settings);

}  // namespace shardlab::fsdp1
