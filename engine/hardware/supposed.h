// Hardware that there is not: the figures of a GPU and its wires, times factors that somebody supposes.
#pragma once

namespace shardlab {

struct Device;  // device.h

// As many times what is described.
struct SupposedHardware {
  double memory = 1;      // of a GPU
  double inter_node = 1;  // rate of the network between nodes
  double intra_node = 1;  // rate of the links between the GPUs of a node
  friend bool operator==(const SupposedHardware&, const SupposedHardware&) = default;
};

// Multiplies a device's figures, and keeps the factors in it.
void suppose(const SupposedHardware& factors, Device& device);

bool has_supposed_wires(const Device& device);

// The same with its wires as they are described, on which alone something can have been measured.
Device with_described_wires(Device device);

}  // namespace shardlab
