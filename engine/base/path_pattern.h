// Patterns over dotted paths (`model.layers.3.mlp`): of modules and of parameters.
//
// `?` is one character and `*` any number of them, both inside one name: they never match a dot. `**` is any
// number of characters, dots included. So `model.layers.*` is every layer and nothing below,
// `model.layers.**` all that lies below, `**.bias` every bias.
#pragma once

#include <string_view>

namespace shardlab {

bool matches_path(std::string_view pattern, std::string_view path);

}  // namespace shardlab
