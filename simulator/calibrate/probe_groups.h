// What the probes of a calibration are about, in three groups. A machine can change in one of them alone:
// Gloo waits for a processor that another program has, while products run on as before.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/words.h"
#include "engine/execute/probe.h"

namespace shardlab {

enum class CheckedGroup : std::uint8_t { products, operators, collectives };
template <>
inline constexpr auto k_words<CheckedGroup> =
    std::to_array<Word<CheckedGroup>>({{CheckedGroup::products, "matrix products"},
                                       {CheckedGroup::operators, "operators"},
                                       {CheckedGroup::collectives, "collectives"}});

// The group of what was measured, by the name of its probe ("matmul.forward.float32").
CheckedGroup group_of_probe(std::string_view probe);

// The group of a case, which may give several measurements of its group ("linear.float32").
CheckedGroup group_of_case(const ProbeCase& probe);

}  // namespace shardlab
