// Where memory ran out. Its check reads the numbers of the allocator's message (log/allocator_message.h).
#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_is_it_memory =
    "lower the micro-batch or free the device (nvidia-smi), which shows whether it is memory; then "
    "compare the versions of CUDA";
constexpr std::string_view k_no_memory_for_nccl = "NCCL found no memory on the device for its buffers.";

std::vector<Finding> check_numbers(const Rule& rule, const Case& facts) {
  if (facts.log->allocations.empty()) return {};
  const SeenAllocation& failed = facts.log->allocations.front();
  const AllocatorMessage& message = failed.message;
  Finding finding = finding_of(rule);
  finding.certainty = 51;
  finding.position = failed.at.line;
  if (message.asked) finding.message = fmt::format("An allocation of {} failed", to_string(*message.asked));
  if (message.asked && message.allocated && message.capacity)
    finding.message += fmt::format(": the process has {} of {} allocated", to_string(*message.allocated),
                                   to_string(*message.capacity));
  if (message.asked) finding.message += ".";
  finding.evidence.push_back(evidence_of(facts, failed.at));
  return {finding};
}

Rule allocation_failed() {
  return {
      .id = "memory/allocation-failed",
      .codes = {"C-01"},
      .title = "out of memory",
      .severity = Severity::error,
      .needs = {Need::prediction, Need::measurement, Need::log},
      .source = "c10/cuda/CUDACachingAllocator.cpp, the OutOfMemoryError of all versions",
      .message = "An allocation on the device failed.",
      .explanation =
          "The message of the allocator says what was asked for, what the device has, what this process "
          "allocated and what it reserved; the difference tells who holds the rest. `shardlab explain memory "
          "S` predicts the same numbers and names the tensors. A snapshot of the allocator can be replayed "
          "(`shardlab replay`).",
      .fix = {.kind = FixKind::command,
              .text =
                  "predict the peak with `shardlab explain memory S`, which lists the settings that lower "
                  "it, the cheapest first: correct units, prefetch limits, activation checkpointing, a "
                  "smaller micro-batch, stronger sharding, lower reduction types, offload"},
      .example =
          "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "
          "capacity of 79.15 GiB of which 10.00 MiB is free. Including non-PyTorch memory, this process has "
          "79.14 GiB memory in use. Of the allocated memory 77.80 GiB is allocated by PyTorch, and 512.00 "
          "MiB is reserved by PyTorch but unallocated.",
      .signs =
          {
              {.pattern = "ze_result_error_out_of_device_memory", .certainty = 80},
              {.pattern = "hsa_status_error_out_of_resources", .certainty = 80},
              {.pattern = "hiperroroutofmemory", .certainty = 80},
              {.pattern = "cudnn_status_not_initialized",
               .certainty = 54,
               .message =
                   "A library of CUDA could not set itself up on the device: its memory is full in most "
                   "cases (others: a library of another version, an earlier error of this process).",
               .fix = k_is_it_memory},
              {.pattern = "cublas_status_not_initialized",
               .certainty = 54,
               .message =
                   "A library of CUDA could not set itself up on the device: its memory is full in most "
                   "cases (others: a library of another version, an earlier error of this process).",
               .fix = k_is_it_memory},
              {.pattern = "cusolver_status_not_initialized",
               .certainty = 54,
               .message =
                   "A library of CUDA could not set itself up on the device: its memory is full in most "
                   "cases (others: a library of another version, an earlier error of this process).",
               .fix = k_is_it_memory},
              {.pattern = "cusparse_status_not_initialized",
               .certainty = 54,
               .message =
                   "A library of CUDA could not set itself up on the device: its memory is full in most "
                   "cases (others: a library of another version, an earlier error of this process).",
               .fix = k_is_it_memory},
              {.pattern = "cusparse_status_alloc_failed", .certainty = 50},
              {.pattern = "cusolver_status_alloc_failed", .certainty = 50},
              {.pattern = "cudnn_status_internal_error",
               .certainty = 52,
               .message =
                   "A library of CUDA could not set itself up on the device: its memory is full in most "
                   "cases (others: a library of another version, an earlier error of this process).",
               .fix = k_is_it_memory},
              {.pattern = "unable to find an engine to execute this computation",
               .certainty = 52,
               .message =
                   "A library of CUDA could not set itself up on the device: its memory is full in most "
                   "cases (others: a library of another version, an earlier error of this process).",
               .fix = k_is_it_memory},
              {.pattern = "nvml_success == r*internal assert failed", .certainty = 60},
              {.pattern = "nvml_success == r internal assert failed", .certainty = 60},
              {.pattern = "cuda runtime error (2) : out of memory", .certainty = 50},
              {.pattern = "thcudacheck fail*out of memory", .certainty = 50},
              {.pattern = "cuda failure 2 'out of memory'", .certainty = 84, .message = k_no_memory_for_nccl},
              {.pattern = "cuda failure 'out of memory'", .certainty = 84, .message = k_no_memory_for_nccl},
              {.pattern = "failed to cuda calloc", .certainty = 78, .message = k_no_memory_for_nccl},
              {.pattern = "mps backend out of memory", .certainty = 50},
              {.pattern = "xpu out of memory", .certainty = 50},
              {.pattern = "cuda out of memory", .certainty = 50},
              {.pattern = "hip out of memory", .certainty = 50},
              {.pattern = "npu out of memory", .certainty = 50},
              {.pattern = "torch.outofmemoryerror", .certainty = 50},
              {.pattern = "cuda.outofmemoryerror", .certainty = 50},
              {.pattern = "cuda error: out of memory", .certainty = 50},
              {.pattern = "cuda_error_out_of_memory", .certainty = 50},
              {.pattern = "cuda failure*out of memory", .certainty = 55},
              {.pattern = "cublas_status_alloc_failed", .certainty = 48},
              {.pattern = "cudnn_status_alloc_failed", .certainty = 48},
              {.pattern = "cudamalloc*failed*out of memory", .certainty = 50},
              {.pattern = "acceleratorerror: cuda error: out of memory", .certainty = 50},
              {.pattern = "resource_exhausted: out of memory", .certainty = 50},
          },
      .checks = {{.needs = {Need::log}, .run = check_numbers}},
  };
}

}  // namespace

std::vector<Rule> memory_allocation_failed_rules() {
  return {allocation_failed()};
}

}  // namespace shardlab
