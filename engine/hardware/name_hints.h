// What somebody may have meant who named hardware in the wrong place: a GPU as a node, "8xH100" as a GPU.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace shardlab {

// For a name that is no GPU, or no node; empty where it tells nothing.
std::string hint_for_gpu(std::string_view name);
std::string hint_for_node(std::string_view name);

// The error with this hint instead of its own, unless the hint is empty.
tl::unexpected<Error> with_hint(Error error, std::string hint);

}  // namespace shardlab
