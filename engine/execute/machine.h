// What a run says of its machine, how other machines reach it, and its clock.
#pragma once

#include <map>
#include <string>

#include "engine/base/units.h"

namespace shardlab {

// Model and number of the processors this process may use: "AMD EPYC 9654, 2 of 192 threads".
std::string processor_description();

// Name of the host and of its current boot: equal for processes that share a monotonic clock.
std::string host_identity();

// shardlab, compiler, kernel.
std::map<std::string, std::string> software_versions();

// How other machines reach this one.

// The numeric address of this host that packets to `host` leave from, which is what a peer there can answer
// to: 127.0.0.1 for this host's own name, the address of the interface that leads there otherwise. Empty when
// the name is unknown or no way leads there. Nothing is sent.
std::string own_address_towards(const std::string& host, int port);

// This host's monotonic clock.

// Nanoseconds since some moment before this process.
Nanoseconds monotonic_now();

}  // namespace shardlab
