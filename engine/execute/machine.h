// What a measured run says of the machine it ran on.
#pragma once

#include <map>
#include <string>

namespace shardlab {

// Model and number of the processors this process may use: "AMD EPYC 9654, 2 of 192 threads".
std::string processor_description();

// Name of the host and of its current boot: equal for processes that share a monotonic clock.
std::string host_identity();

// shardlab, compiler, kernel.
std::map<std::string, std::string> software_versions();

}  // namespace shardlab
