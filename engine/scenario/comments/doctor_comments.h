// What a scenario's own comments tell the doctor: `# doctor: ignore E-16`.
#pragma once

#include <string_view>
#include <vector>

#include "engine/scenario/source.h"

namespace shardlab {

// The comments to the doctor in the file's text, in the order of their lines. `source` has the places of its
// keys.
std::vector<DoctorComment> doctor_comments(std::string_view yaml, const ScenarioSource& source);

}  // namespace shardlab
