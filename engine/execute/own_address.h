// How other machines reach this one.
#pragma once

#include <string>

namespace shardlab {

// The numeric address of this host that packets to `host` leave from, which is what a peer there can answer
// to: 127.0.0.1 for this host's own name, the address of the interface that leads there otherwise. Empty when
// the name is unknown or no way leads there. Nothing is sent.
std::string own_address_towards(const std::string& host, int port);

}  // namespace shardlab
