// The sections of a scenario about a run as a whole: semantics, checkpoint, launch, measure, limits.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/base/units.h"
#include "engine/scenario/run_words.h"

namespace shardlab {

// Whose behaviour is mirrored.
struct SemanticsSpec {
  std::string pytorch = "2.11";
  std::string deepspeed = "0.19";
  std::string transformers = "5";
  std::optional<HostProgram> host;  // absent: as choose_host() says
  friend bool operator==(const SemanticsSpec&, const SemanticsSpec&) = default;
};

struct CheckpointSpec {
  CheckpointType type = CheckpointType::full;
  std::string path;
  bool offload_to_cpu = false;
  bool rank0_only = true;
  std::string resume;
  friend bool operator==(const CheckpointSpec&, const CheckpointSpec&) = default;
};

struct LaunchSpec {
  std::optional<CommunicationBackend> backend;  // absent: nccl on GPUs, gloo on CPUs
  Nanoseconds timeout = {600'000'000'000};
  std::map<std::string, std::string> environment;
  std::string master;  // host or host:port; empty: this host and a free port
  std::string interface;
  Launcher launcher = Launcher::local;
  friend bool operator==(const LaunchSpec&, const LaunchSpec&) = default;
};

struct MeasureSpec {
  int warmup_steps = 3;
  int steps = 10;
  MeasureDetail detail = MeasureDetail::instructions;
  std::map<std::string, double> tolerance;  // metric name -> fraction (0.02 for 2%)
  friend bool operator==(const MeasureSpec&, const MeasureSpec&) = default;
};

// Constraints of a search.
struct LimitsSpec {
  std::optional<Bytes> memory;
  std::optional<Nanoseconds> step_time;
  std::optional<double> price;
  std::optional<int> gpus;
  std::optional<Objective> objective;  // absent: tokens_per_second
  friend bool operator==(const LimitsSpec&, const LimitsSpec&) = default;
};

}  // namespace shardlab
