// A prediction, with what its figures are made of and what says whether its micro-batches repeat. Private to
// this folder.
#pragma once

#include <vector>

#include "engine/report/communication_volume.h"
#include "engine/report/summarize.h"
#include "simulator/search/full_prediction.h"

namespace shardlab {

struct StepPrediction {
  RunSummary run;
  Nanoseconds first_step, forward;
  // In the first and in the steady step: when the host had issued the last backward, and when each stream was
  // done with what was issued until then.
  std::vector<Nanoseconds> first_backwards_end, backwards_end;
  bool records_streams = false;  // what is freed may wait for other streams
  StepWork work;
  SentElements elements;
  DeviceLimits device;
};

// Errors as predict_fully().
Result<StepPrediction> step_prediction(const FullPrediction& full);

// Whether a micro-batch in the middle of a step leaves memory as the one before it did.
Result<bool> memory_repeats(const FullPrediction& full);

}  // namespace shardlab
