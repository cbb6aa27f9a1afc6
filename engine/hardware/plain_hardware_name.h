// What two spellings of a device's or a node's name have in common.
#pragma once

#include <string>
#include <string_view>

namespace shardlab {

// Upper and lower case, the order of the words and what stands between them do not matter, nor do vendors
// (NVIDIA, Tesla, AWS, Standard), generations of sockets (SXM5 is SXM) and kinds of memory (HBM3): what
// nvidia-smi prints, "NVIDIA H100 80GB HBM3", is plainly "80gb h100", as "H100-80GB" is.
std::string plain_hardware_name(std::string_view name);

}  // namespace shardlab
