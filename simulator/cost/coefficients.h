// Every number the cost terms need for one device, from published figures or from a calibration.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "engine/base/dtype.h"
#include "engine/hardware/device.h"
#include "engine/model/choices.h"
#include "engine/plan/instruction.h"
#include "engine/scenario/model_words.h"
#include "engine/scenario/scenario.h"
#include "simulator/calibrate/calibration.h"
#include "simulator/cost/attention_cost.h"
#include "simulator/cost/collective_cost.h"
#include "simulator/cost/contention.h"
#include "simulator/cost/drive.h"
#include "simulator/cost/host_issue.h"
#include "simulator/cost/host_link.h"
#include "simulator/cost/host_update.h"
#include "simulator/cost/matmul.h"
#include "simulator/cost/memory_bound.h"

namespace shardlab {

enum class Direction : std::uint8_t { forward, backward };

struct DtypeCoefficients {
  std::array<MatmulCoefficients, k_matmul_uses> matmul;  // by MatmulUse
  std::array<AttentionCoefficients, 2> attention;        // by Direction
};

// Names of traffic: "rms_norm.forward.float32" for operators, "pack", "unpack", "copy", "cast", "accumulate",
// "gradient_norms", "clip_gradients", "optimizer", "load_batch", "initialize" for instructions.
struct CostCoefficients {
  bool counts_pieces = false;  // copies go tensor by tensor (a CPU); else one kernel handles all
  DtypeCoefficients float32;
  DtypeCoefficients bfloat16;
  DtypeCoefficients float16;
  std::array<MatmulCoefficients, k_matmul_uses> float8;  // products of operands in eight bits
  TrafficCoefficients memory;                            // what has no coefficients of its own
  TrafficCoefficients operators;                         // the same of a program's operators
  // The same of PyTorch's own that somebody measured, by name: by direction, of 16 bits and of float32.
  using BySize = std::array<TrafficCoefficients, 2>;
  std::map<std::string, std::array<BySize, 2>, std::less<>> named_operators;
  std::map<std::string, TrafficCoefficients, std::less<>> traffic;
  double allocation_ns = 0;                                // one tensor allocated and freed inside a segment
  std::map<InstructionKind, CollectiveTerms> collectives;  // calibrated ones, of all ranks
  HostCoefficients host;
  ContentionFactors contention;
  HostLinkCoefficients host_link;  // beside GPUs
  HostWorkCoefficients host_work;
  DriveCoefficients drive;

  const DtypeCoefficients& of(DType dtype) const {
    if (dtype == DType::float32) return float32;
    return dtype == DType::float16 ? float16 : bfloat16;
  }
  const TrafficCoefficients& traffic_of(std::string_view name) const;
  // What one of a program's operators takes, by the dtype of what it reads. `compiled`: a compiler makes it
  // one kernel, which moves its bytes as a copy does.
  const TrafficCoefficients& traffic_of_operator(std::string_view operation, Direction direction, DType dtype,
                                                 bool compiled = false) const;
};

// What of a scenario decides which kernels run.
struct KernelChoice {
  AttentionKind attention = AttentionKind::automatic;
  Implementation implementation = Implementation::fused;
  HostProgram host = HostProgram::shardlab;
  bool reduces_in_cpp = false;  // StrategyFacts, of a Python program
};
KernelChoice kernel_choice(const Scenario& scenario);

CostCoefficients published_coefficients(const Device& device, const KernelChoice& kernels);

// The coefficients by which a scenario's steps are predicted: published ones, and over them what the
// calibration measured, which may be null.
CostCoefficients prediction_coefficients(const Scenario& scenario, const Device& device,
                                         const Calibration* calibration);

// Replaces what the calibration measured. Coefficients with names it does not know are ignored; what it lacks
// stays published. Calibrations measure 16 bits in bfloat16: float16 takes the same where the published rates
// of the two are the same, else it stays published.
void apply_calibration(const Calibration& calibration, CostCoefficients& coefficients);

// "rms_norm.forward.float32"
std::string traffic_name(std::string_view operation, Direction direction, DType dtype);

}  // namespace shardlab
