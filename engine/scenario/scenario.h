// A scenario: everything that decides what a training step does and where, as one comparable value.
//
// The keys, their meaning and their defaults are documented in docs/scenario.md (generated from the reader).
// A Scenario that came out of read_scenario() is complete and has passed validate_scenario(): every name in
// it is known, every number is in range.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/units.h"
#include "engine/hardware/device_kind.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/run_words.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {

// Whose behaviour is mirrored.
struct SemanticsSpec {
  std::string pytorch = "2.11";
  std::string deepspeed = "0.19";
  std::string transformers = "5";
  friend bool operator==(const SemanticsSpec&, const SemanticsSpec&) = default;
};

// The file system that offload to NVMe uses, with its rates as this node attains them.
struct NvmeSpec {
  std::string path;
  std::optional<BytesPerSecond> read;
  std::optional<BytesPerSecond> write;
  friend bool operator==(const NvmeSpec&, const NvmeSpec&) = default;
};

struct HostSpec {
  std::optional<int> cores;
  std::optional<Bytes> memory;
  std::optional<int> pcie_generation;
  friend bool operator==(const HostSpec&, const HostSpec&) = default;
};

// Exactly one of three forms: a named node (node, nodes), a described one (gpu, gpus_per_node, nodes, links),
// or this machine's processors (device = "cpu", ranks). Reading fills in gpus_per_node of a named node.
struct ClusterSpec {
  std::string node;  // name in assets/hardware
  int nodes = 1;
  std::string gpu;  // name in assets/hardware
  int gpus_per_node = 0;
  std::optional<IntraNodeLink> intra_node_link;   // absent: nvlink where the GPU has it
  std::optional<double> inter_node_gbps_per_gpu;  // Gbit/s, one direction
  HostSpec host;
  std::optional<DeviceKind> device;  // cpu, or absent
  int ranks = 0;
  int threads_per_rank = 1;
  std::string allocator_conf;  // the text of PYTORCH_ALLOC_CONF
  std::optional<Bytes> memory_limit;
  NvmeSpec nvme;
  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
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

// The frozen model that `model` learns from; it reads the same tokens. See teacher_scenario.h.
struct TeacherSpec {
  ModelSpec model;
  ParallelSpec parallel;
  PrecisionSpec precision;
  friend bool operator==(const TeacherSpec&, const TeacherSpec&) = default;
};

// loss = (1 - weight) * cross-entropy + weight * temperature^2 * KL(teacher || student), see
// model/operators/distillation_loss.cpp.
struct DistillationSpec {
  TeacherSpec teacher;
  double temperature = 1;
  double weight = 0.5;
  friend bool operator==(const DistillationSpec&, const DistillationSpec&) = default;
};

struct Scenario {
  std::string name;
  std::string description;
  std::vector<std::string> tags;
  std::string directory;  // of the file it was read from; relative paths in the scenario are relative to it
  SemanticsSpec semantics;
  ModelSpec model;  // the student, with a distillation
  std::optional<DistillationSpec> distillation;
  ClusterSpec cluster;
  ParallelSpec parallel;
  PrecisionSpec precision;
  ScalerSpec scaler;
  ActivationSpec activation;
  OffloadSpec offload;
  TrainSpec train;
  CheckpointSpec checkpoint;
  LaunchSpec launch;
  MeasureSpec measure;
  LimitsSpec limits;
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// Ranks of the cluster: nodes x GPUs of a node, or the CPU ranks.
int world_size(const Scenario& scenario);

}  // namespace shardlab
