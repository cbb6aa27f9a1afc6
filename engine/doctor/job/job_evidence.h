// What shows a finding in a scenario, its plan or its prediction.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/ids.h"
#include "engine/doctor/case.h"
#include "engine/doctor/finding.h"

namespace shardlab {

// A key with its value and the place where it was given, or that it is a default. The case must have a job.
Evidence evidence_of_key(const Case& facts, std::string_view key);

// An instruction of the steady plan with its bytes. The case must have a plan.
Evidence evidence_of_instruction(const Case& facts, InstructionId id, std::string text = {});

// A unit of the steady plan with its elements. Likewise.
Evidence evidence_of_unit(const Case& facts, UnitId id);

// A figure of the plan or the prediction: "peak on the device", "87.2 GiB of 79.2 GiB".
Evidence evidence_of_figure(const Case& facts, std::string_view figure, std::string text);

// A figure of the measured run, likewise.
Evidence evidence_of_measurement(const Case& facts, std::string_view figure, std::string text);

// "12.3 %".
std::string share_words(double share);

// "1.25 billion", "16.8 million", "512".
std::string count_words(std::int64_t elements);

}  // namespace shardlab
