// The tables of all sections of a scenario; who uses one includes the header of its section.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/model/reshard_after_forward.h"
#include "engine/scenario/keys/key.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

struct TeacherSpec;
struct WrapSpec;

const Keys<Scenario>& scenario_keys();
const Keys<ModelSpec>& model_keys();
const Keys<TeacherSpec>& teacher_keys();
const Keys<DistillationSpec>& distillation_keys();
const Keys<ClusterSpec>& cluster_keys();
const Keys<ParallelSpec>& parallel_keys();
const Keys<WrapSpec>& wrap_keys();
const Keys<PrecisionSpec>& precision_keys();
const Keys<ScalerSpec>& scaler_keys();
const Keys<ActivationSpec>& activation_keys();
const Keys<OffloadSpec>& offload_keys();
const Keys<TrainSpec>& train_keys();
const Keys<CheckpointSpec>& checkpoint_keys();
const Keys<LaunchSpec>& launch_keys();
const Keys<MeasureSpec>& measure_keys();
const Keys<LimitsSpec>& limits_keys();

// true, false, default, or the size of the smaller group that keeps the parameters.
Kind<ReshardAfterForward> reshard_after_forward_kind();

// The map of parallel.zero: names and types of DeepSpeed's zero_optimization section.
Kind<std::map<std::string, std::string>> zero_kind();

// The metrics that measure.tolerance may bound.
const std::vector<std::string>& tolerance_metric_names();

}  // namespace shardlab
