// Whose operators a model is computed with.
#pragma once

#include <optional>

#include "engine/model/choices.h"
#include "engine/scenario/run_words.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// What the scenario says, for the teacher of a distillation too. Where it says nothing: eager on GPUs, which
// is what people run who train with PyTorch and the transformers modules there, and fused on processors,
// where the program that runs is ours.
//
// A choice of this function and not of the scenario may be given up: not every model has an eager form, see
// ErrorCode::no_eager_form.
Implementation choose_implementation(const Scenario& scenario);

// Who issues a step: where the scenario does not say it, Python wherever the operators are those of PyTorch's
// modules on GPUs, else our executor.
HostProgram choose_host(const Scenario& scenario);

// The scenario whose prediction stands beside a real run of ours: our executor issues it, unless the scenario
// says who does.
Scenario issued_by_our_executor(Scenario scenario);

// The same scenario with all that it leaves open decided: this implementation for model and teacher. Nothing
// where it leaves nothing open.
std::optional<Scenario> with_implementation(const Scenario& scenario, Implementation implementation);

}  // namespace shardlab
