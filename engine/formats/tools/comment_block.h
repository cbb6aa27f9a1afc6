// Lines of text as comments of YAML and of shells.
#pragma once

#include <span>
#include <string>

namespace shardlab {

// "# line", wrapped at spaces where it is longer than a page is wide; what is wrapped is indented.
std::string comment_block(std::span<const std::string> lines);

}  // namespace shardlab
