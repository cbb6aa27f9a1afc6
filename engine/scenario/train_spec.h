// The `train` section of a scenario.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/scenario/train_words.h"

namespace shardlab {

struct ScheduleSpec {
  ScheduleKind kind = ScheduleKind::constant;
  int warmup_steps = 0;
  int total_steps = 0;
  friend bool operator==(const ScheduleSpec&, const ScheduleSpec&) = default;
};

struct EvaluationSpec {
  int every = 0;  // 0: never
  int batches = 1;
  friend bool operator==(const EvaluationSpec&, const EvaluationSpec&) = default;
};

struct SaveSpec {
  int every = 0;  // 0: never
  int keep = 1;
  friend bool operator==(const SaveSpec&, const SaveSpec&) = default;
};

struct TrainSpec {
  int micro_batch = 1;   // sequences of one rank in one forward
  int accumulation = 1;  // micro-batches of one step
  GradientSync sync = GradientSync::last;
  Optimizer optimizer = Optimizer::adamw;
  OptimizerImplementation optimizer_implementation = OptimizerImplementation::fused;
  bool optimizer_in_backward = false;
  bool optimizer_paged = false;
  double learning_rate = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  double momentum = 0;
  ScheduleSpec schedule;
  std::optional<double> clip_norm;
  std::optional<double> clip_value;
  bool nan_check = false;
  std::int64_t seed = 1;
  std::vector<std::string> data;  // text files (bytes are tokens) or .bin files (uint16 tokens)
  DataOrder order = DataOrder::shuffled;
  int data_workers = 0;
  bool pin_batches = true;
  EvaluationSpec evaluation;
  int epochs = 0;
  int steps = 0;
  SaveSpec save;
  friend bool operator==(const TrainSpec&, const TrainSpec&) = default;
};

}  // namespace shardlab
