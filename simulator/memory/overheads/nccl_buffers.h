// What NCCL allocates for a communicator, by what uses it (release 2.30.7; 2.28, which torch 2.11 brings, has
// the same sizes). Connections are made when an algorithm is first used (NCCL_RUNTIME_CONNECT), each with a
// buffer a protocol on the side of who receives, or, where Ampere reads over NVLink, the largest with who
// sends.
//
// Sizes: src/init.cc (computeBuffSizes), src/transport/p2p.cc (p2pSendSetup, p2pRecvSetup),
// src/transport/net.cc (sendProxyConnect, sharedNetBuffersInit), src/transport/nvls.cc (ncclNvlsBufferSetup).
// Who connects: src/transport/generic.cc, src/graph/connect.cc and paths.cc.
#pragma once

#include "engine/hardware/device.h"
#include "simulator/memory/overheads/communicators.h"

namespace shardlab {

// On the device and in the host's memory, of a rank.
struct NcclBytes {
  Bytes device, host;

  friend NcclBytes operator+(NcclBytes a, NcclBytes b) { return {a.device + b.device, a.host + b.host}; }
  friend NcclBytes operator*(NcclBytes a, std::int64_t n) { return {a.device * n, a.host * n}; }
};

// The two ends of connections that a rank has.
struct Connection {
  NcclBytes send, receive;

  NcclBytes both() const { return send + receive; }
};

class NcclBuffers {
 public:
  NcclBuffers(const Device& device, const NcclMemory& figures) : device_(device), figures_(figures) {}

  Connection within_node() const;
  Connection across_nodes() const;
  bool has_nvls(const PlannedCommunicator& its) const;
  int channels(const PlannedCommunicator& its) const;
  int nvls_channels() const;
  int channels_of_peers(const PlannedCommunicator& its) const;  // of sends and receives, to each peer

  // What a ring takes on a rank in the middle: one neighbour on each side, on the node or across.
  NcclBytes ring(const PlannedCommunicator& its) const;
  // What a tree needs beyond the ring of the same communicator.
  NcclBytes tree(const PlannedCommunicator& its) const;
  NcclBytes nvls(const PlannedCommunicator& its) const;
  NcclBytes all_to_all(const PlannedCommunicator& its) const;
  // For sends across nodes, of all channels at once.
  NcclBytes shared(const PlannedCommunicator& its) const;

 private:
  Bytes mapped(Bytes size) const;
  int crossings(const PlannedCommunicator& its) const;
  int channels_across(const PlannedCommunicator& its) const;

  const Device& device_;
  const NcclMemory& figures_;
};

}  // namespace shardlab
