// What a configuration takes at least, in closed form: nothing is planned, nothing is simulated.
//
// The facts are of a part of the settings each, so that a search reckons them once for many combinations
// (estimate_parts.h).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

struct Calibration;  // simulator/calibrate/calibration.h
struct Device;       // engine/hardware/device.h

// What an estimate needs to know of the model, its precision and the training, on a device of this kind. What
// `cluster` and `parallel` say beyond that changes nothing.
struct ModelFacts {
  double parameters = 0, trained = 0;  // elements, as they are stored
  double element = 4;                  // bytes of a stored one
  double cast_element = 4;      // bytes of one that is held in precision.param instead, if that is less
  int states = 0;               // elements that the optimizer keeps for a trained one
  bool keeps_gradients = true;  // up to the optimizer: no optimizer within backward
  std::int64_t tokens = 0;      // of a micro-batch
  double nanoseconds = 0;       // of a micro-batch's operators; 0: nothing is known
  double saved = 0;             // bytes that backward needs; likewise
  bool offloads = false;        // what is at rest lies in host memory
  bool reduces_last = false;    // train.sync leaves gradients whole until the last micro-batch
};

// What an estimate needs to know of the cluster and of what is sharded over it.
struct MeshFacts {
  int ranks = 1, shard = 1, tensor = 1;
  bool one_precision = true;   // units compute as the model says
  bool reduces_every = false;  // the strategy reduces every micro-batch, whatever train.sync says
  // Frozen parameters are gathered in every step like others; else only those that the optimizer changed.
  bool gathers_frozen = false;
  bool casts_frozen = false;  // they lie in precision.param alone: DeepSpeed casts the whole model
  double gather_seconds = 0;  // that one gathered element costs the wires of a rank; 0: nothing is known
  double reduce_seconds = 0;  // likewise one reduced gradient
  std::optional<Bytes> limit;
};

// `calibration` is what times come from, null where it is published figures. Errors: what the scenario asks
// of a model that it cannot have.
Result<ModelFacts> model_facts(const Scenario& scenario, const Device& device,
                               const Calibration* calibration);
MeshFacts mesh_facts(const Scenario& scenario, const Device& device, const Calibration* calibration);

// Bounds from below that no prediction falls short of; a bound of 0 says nothing.
struct Estimate {
  double step_ns = 0;       // the operators one after the other without a gap; what must cross the wires
  Bytes memory;             // parameters, optimizer states, and either the gradients or what backward needs
  std::int64_t tokens = 0;  // of a step; exact
};

Estimate estimate(const ModelFacts& model, const MeshFacts& mesh, std::int64_t accumulation);

}  // namespace shardlab
