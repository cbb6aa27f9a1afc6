// Names of assets/hardware beside the names that drivers give their devices.
#pragma once

#include <string_view>

namespace shardlab {

// Whether a device that its driver calls `reported` ("NVIDIA H100 80GB HBM3") may be the GPU `name`
// ("H100-SXM"): the name's part before the first dash is a word of it, or two words side by side ("GeForce
// RTX 4090").
bool is_device_called(std::string_view name, std::string_view reported);

}  // namespace shardlab
