// A scenario: everything that decides what a training step does and where, as one comparable value.
//
// The keys, their meaning and their defaults are documented in docs/scenario.md (generated from the reader).
// A Scenario that came out of read_scenario() is complete and has passed validate_scenario(): every name in
// it is known, every number is in range.
//
// Each section lies behind a pointer and has a header of its own (model_spec.h, cluster_spec.h ...), which
// those include who look into it: a new key compiles them again and nobody else.
#pragma once

#include <string>
#include <vector>

#include "engine/base/boxed.h"

namespace shardlab {

struct SemanticsSpec;     // run_spec.h
struct ModelSpec;         // model_spec.h
struct DistillationSpec;  // distillation_spec.h
struct ClusterSpec;       // cluster_spec.h
struct ParallelSpec;      // parallel_spec.h
struct PrecisionSpec;     // precision_spec.h
struct ScalerSpec;
struct ActivationSpec;  // offload_spec.h
struct OffloadSpec;
struct TrainSpec;       // train_spec.h
struct CheckpointSpec;  // run_spec.h
struct LaunchSpec;
struct MeasureSpec;
struct LimitsSpec;

struct Scenario {
  std::string name;
  std::string description;
  std::vector<std::string> tags;
  std::string directory;  // of the file it was read from; relative paths in the scenario are relative to it
  Boxed<SemanticsSpec> semantics;
  Boxed<ModelSpec> model;  // the student, with a distillation
  BoxedOptional<DistillationSpec> distillation;
  Boxed<ClusterSpec> cluster;
  Boxed<ParallelSpec> parallel;
  Boxed<PrecisionSpec> precision;
  Boxed<ScalerSpec> scaler;
  Boxed<ActivationSpec> activation;
  Boxed<OffloadSpec> offload;
  Boxed<TrainSpec> train;
  Boxed<CheckpointSpec> checkpoint;
  Boxed<LaunchSpec> launch;
  Boxed<MeasureSpec> measure;
  Boxed<LimitsSpec> limits;

  Scenario();
  Scenario(const Scenario&);
  Scenario(Scenario&&) noexcept;
  Scenario& operator=(const Scenario&);
  Scenario& operator=(Scenario&&) noexcept;
  ~Scenario();
  friend bool operator==(const Scenario& a, const Scenario& b);
};

// Ranks of the cluster: nodes x GPUs of a node, or the CPU ranks.
int world_size(const Scenario& scenario);

// `train.accumulation`: micro-batches of one step.
int micro_batches_of_step(const Scenario& scenario);

// `train.sync: every`: each of them reduces its gradients, not the last one alone.
bool reduces_every_micro_batch(const Scenario& scenario);

}  // namespace shardlab
