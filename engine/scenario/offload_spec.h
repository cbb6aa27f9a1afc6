// The `activation` and `offload` sections of a scenario: what is computed again, and what lies elsewhere.
#pragma once

#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/scenario/parallel_words.h"
#include "engine/scenario/train_words.h"

namespace shardlab {

struct ActivationSpec {
  ActivationCheckpoint checkpoint = ActivationCheckpoint::none;
  int every = 1;
  std::vector<std::string> operators;
  CheckpointPlacement placement = CheckpointPlacement::inside;
  bool reentrant = false;
  OffloadTarget offload = OffloadTarget::none;  // none or cpu
  bool partition = false;
  friend bool operator==(const ActivationSpec&, const ActivationSpec&) = default;
};

// How a drive is read and written, as DeepSpeed's `aio` section has it.
struct DriveSpec {
  Bytes block_size{1 << 20};
  int queue_depth = 8;
  int threads = 1;
  friend bool operator==(const DriveSpec&, const DriveSpec&) = default;
};

struct OffloadSpec {
  OffloadTarget parameters = OffloadTarget::none;
  OffloadTarget optimizer = OffloadTarget::none;
  bool pin = true;
  double ratio = 1;
  int buffers = 0;  // 0: as many as the framework has
  bool pipeline_read = false;
  bool pipeline_write = false;
  DriveSpec aio;
  friend bool operator==(const OffloadSpec&, const OffloadSpec&) = default;
};

}  // namespace shardlab
