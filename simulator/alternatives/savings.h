// The settings that save memory, by what they are about; settings_to_try.h chooses among them.
//
// Each of these appends those that the scenario has not set so already and that mean something under its
// strategy. Whether the rest of the scenario allows one is found by predicting it.
#pragma once

#include <vector>

#include "engine/plan/planned_scenario.h"
#include "simulator/alternatives/settings_to_try.h"

namespace shardlab {

using Savings = std::vector<SettingToTry>;

// How units are cut, gathered and kept, and how gradients are reduced.
void add_unit_savings(const PlannedScenario& planned, Savings& savings);

// Over how many ranks parameters, gradients and optimizer states are spread, and what of them lies in host
// memory.
void add_state_savings(const PlannedScenario& planned, Savings& savings);

// What forward keeps for backward, and temporaries.
void add_activation_savings(const PlannedScenario& planned, Savings& savings);

// What a distillation's teacher holds.
void add_teacher_savings(const PlannedScenario& planned, Savings& savings);

// Fewer bytes a number.
void add_precision_savings(const PlannedScenario& planned, Savings& savings);

}  // namespace shardlab
