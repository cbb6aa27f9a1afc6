// The answer to a model_type that no family is for.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_config.h"

namespace shardlab {

// bad_input: a decoder of transformers that is not built is said to be that, anything else is answered with
// the nearest of `known`, or with all of them.
tl::unexpected<Error> unknown_family(const ModelConfig& config, const std::string& type,
                                     const std::vector<std::string>& known);

}  // namespace shardlab
