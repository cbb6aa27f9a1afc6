// The teacher of a distillation as a scenario of its own, so that what is written for one model (wrap
// policies, precision, strategies, validation, files of weights) needs no second form.
#pragma once

#include <string>
#include <string_view>

#include "engine/scenario/scenario.h"

namespace shardlab {

// What runs forward only: the teacher's model, parallel and precision beside the scenario's cluster and
// training, with the student's sequence length; nothing is checkpointed or offloaded, and there is no
// distillation in it. `scenario.distillation` is set.
Scenario teacher_scenario(const Scenario& scenario);

// The key of the whole scenario that a key of the teacher's stands for: "distillation.teacher.parallel.mesh"
// for "parallel.mesh", "distillation.teacher.dtype" for "model.dtype".
std::string teacher_key(const std::string& key);

// Whether a key belongs to what a teacher has of its own: its model, parallel and precision.
bool is_key_of_teacher(std::string_view key);

}  // namespace shardlab
