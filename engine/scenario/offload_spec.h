// The `activation` and `offload` sections of a scenario: what is computed again, and what lies elsewhere.
#pragma once

#include <string>
#include <vector>

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

struct OffloadSpec {
  OffloadTarget parameters = OffloadTarget::none;
  OffloadTarget optimizer = OffloadTarget::none;
  bool pin = true;
  double ratio = 1;
  int buffers = 0;
  friend bool operator==(const OffloadSpec&, const OffloadSpec&) = default;
};

}  // namespace shardlab
