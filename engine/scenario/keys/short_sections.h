// Sections for which a single word may stand: `cluster: hgx-h100` for `cluster: {node: hgx-h100}`.
#pragma once

#include <string>
#include <string_view>

namespace shardlab {

// The key of the section at this dotted path that a single word gives; empty where none does.
std::string short_key_of(std::string_view path);

}  // namespace shardlab
