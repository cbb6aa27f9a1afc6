#include "simulator/calibrate/calibration_work.h"

#include "simulator/calibrate/probe_cases.h"

namespace shardlab {
namespace {

constexpr const char* k_mixed = "precision: {param: bfloat16, reduce: float32}\n";

CalibrationWork work_of_processors() {
  return {standard_probe_cases(),
          26'000,
          {{"tiny", "ddp", 64, 176, 32, ""},
           {"medium", "fsdp2", 256, 688, 64, ""},
           {"wide", "fsdp2", 768, 2048, 32, k_mixed}}};
}

// 0.74 billion parameters in the wide one: 11 GiB of parameters, gradients and moments where there is one
// rank.
CalibrationWork work_of_gpus() {
  return {gpu_probe_cases(),
          40'000,
          {{"small", "ddp", 1024, 2736, 1024, ""},
           {"medium", "fsdp2", 2048, 5472, 2048, k_mixed},
           {"wide", "fsdp2", 4096, 10928, 1024, k_mixed}}};
}

}  // namespace

CalibrationWork standard_work(DeviceKind kind) {
  return kind == DeviceKind::cpu ? work_of_processors() : work_of_gpus();
}

}  // namespace shardlab
