// Interfaces, adapters and addresses of this machine as texts. Private to this folder.
#pragma once

#include <string>

namespace shardlab {

std::string interfaces_text();
// Addresses that a name resolves to here; empty where it resolves to none.
std::string addresses_text(const std::string& host);
// Ports below /sys/class/infiniband.
std::string fabric_text();

}  // namespace shardlab
