// Calibration: what micro-benchmarks of one machine measured, and the coefficients fitted to it.
//
// A plain value. The store keeps it as JSON; the cost model reads coefficients by name and the measured
// shapes as tables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/execute/probe.h"

namespace shardlab {

// Where a calibration holds. Two runs with the same fingerprint are the same experiment as far as speed goes.
struct MachineFingerprint {
  std::string processor;  // model name as the kernel gives it; of GPUs as the driver gives it
  int cores = 0;          // logical processors this process may use; 0 with GPUs
  int ranks = 0;          // processes that measured at the same time
  int threads_per_rank = 1;
  std::string torch_version;
  std::string gpu;  // name in assets/hardware; empty: processors were measured
  int nodes = 1;    // that the ranks of GPUs were on; collectives hold for as many ranks on as many nodes
  friend bool operator==(const MachineFingerprint&, const MachineFingerprint&) = default;
};

struct Coefficient {
  double value = 0;
  std::string unit;  // "ns", "FLOP/s", "B/s", "ns/element", "1" ...
  friend bool operator==(const Coefficient&, const Coefficient&) = default;
};

// One micro-benchmark: a probe ("matmul.forward.float32", "all_gather") at one shape.
struct ProbeResult {
  std::string probe;
  ProbeShape shape;
  std::vector<std::int64_t> samples;  // ns, every repeat of every rank
  double measured_ns = 0;             // median of the samples
  double fitted_ns = 0;               // the fitted formula at this shape, before the table corrects it
  double error() const { return measured_ns > 0 ? fitted_ns / measured_ns - 1 : 0; }
  friend bool operator==(const ProbeResult&, const ProbeResult&) = default;
};

struct Calibration {
  std::string id;  // hash of everything below
  MachineFingerprint machine;
  std::string when;  // start, ISO 8601, UTC
  std::int64_t duration_ns = 0;
  std::map<std::string, Coefficient> coefficients;  // by name: "matmul.forward.float32.rate"
  std::vector<ProbeResult> probes;                  // sorted by probe, then shape
  std::map<std::string, std::string> versions;      // shardlab, torch, compiler, kernel
  friend bool operator==(const Calibration&, const Calibration&) = default;
};

// JSON text; from_json(to_json(c)) == c. A text that is not a calibration is bad_input; `name` stands for it
// in messages.
std::string to_json(const Calibration& calibration);
Result<Calibration> calibration_from_json(std::string_view text, std::string_view name);

// The hash that belongs in `id`.
std::string calibration_id(const Calibration& calibration);

// Empty when a calibration of `measured` may be used for a run on `wanted`; else the difference in words. A
// GPU is the same whatever machine it is in; its collectives are a matter of ranks (without_collectives).
std::string calibration_mismatch(const MachineFingerprint& measured, const MachineFingerprint& wanted);

// What holds for the same GPU in any number: products, attention, traffic, the host's launches.
Calibration without_collectives(Calibration calibration);

// Processor and cores of this machine; ranks, threads and torch version are the caller's.
MachineFingerprint this_machine(int ranks, int threads_per_rank, std::string torch_version);

}  // namespace shardlab
