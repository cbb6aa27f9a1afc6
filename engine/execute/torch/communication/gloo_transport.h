// Transport over c10d's Gloo backend.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/execute/torch/communication/transport.h"

namespace shardlab {

struct GlooOptions {
  std::chrono::milliseconds timeout;
  std::string interface;  // network interface; else `address`
  std::string address;    // of this host, as the peers reach it; empty: this machine's name
};

// Blocks until all members have connected. Throws what c10d throws.
std::unique_ptr<Transport> make_gloo_transport(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                               int size, const GlooOptions& options);

}  // namespace shardlab
