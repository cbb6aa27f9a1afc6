// What transformers loads a scenario's model by.
#pragma once

#include <string>

#include "engine/scenario/scenario.h"

namespace shardlab {

// The argument of AutoConfig.from_pretrained: the Hub's name of a shipped model, or an absolute path where
// the scenario gives a path or the Hub has no such model.
std::string pretrained_name(const Scenario& scenario);

// The line of a program that makes the model with its weights, if it has any: model = ...
std::string model_in_python(const Scenario& scenario);

}  // namespace shardlab
