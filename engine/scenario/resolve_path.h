// From the names in a scenario to files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// A path of the scenario (train.data, model.weights): absolute, else relative to the scenario's directory,
// else, when it starts with "assets/", among the files shipped with the program. bad_input when there is no
// such file.
Result<std::filesystem::path> resolve_path(const Scenario& scenario, std::string_view path);

// The name in assets/models that model.config means, where it writes one otherwise (model_called() of
// model/hub_names.h) and no such folder lies beside the scenario; else `config` itself.
Result<std::string> own_model_name(const Scenario& scenario, const std::string& config);

// The config.json of model.config: a name in assets/models, a path as above (to the file or to its folder),
// or, where no such folder is there, what the Hub calls a model in assets/models.
Result<std::filesystem::path> resolve_model_config(const Scenario& scenario, const ModelSpec& model);

}  // namespace shardlab
