// From the names in a scenario to files.
#pragma once

#include <filesystem>
#include <string_view>

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// A path of the scenario (train.data, model.weights): absolute, else relative to the scenario's directory,
// else, when it starts with "assets/", among the files shipped with the program. bad_input when there is no
// such file.
Result<std::filesystem::path> resolve_path(const Scenario& scenario, std::string_view path);

// The config.json of model.config: a name in assets/models, a path as above (to the file or to its folder),
// or, where no such folder is there, what the Hub calls a model in assets/models.
Result<std::filesystem::path> resolve_model_config(const Scenario& scenario, const ModelSpec& model);

}  // namespace shardlab
