// A hang that says nothing of its cause.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule hang() {
  return {
      .id = "collectives/hang",
      .codes = {"A-02", "C-20", "C-26"},
      .title = "the job stands still and its log does not say why",
      .severity = Severity::error,
      .needs = {Need::measurement, Need::log},
      .threshold = "no rank advances for the watch time",
      .source = "torch/distributed, environment variables of ProcessGroupNCCL",
      .message = "The job stopped making progress, and nothing in the log says which collective is missing.",
      .explanation =
          "Without debug output a hang shows only a timeout, or nothing. With the distributed debug level "
          "DETAIL every collective is checked before it runs, and the first that does not match is named; "
          "NCCL's own log says what it set up. A flight recorder keeps the last collectives of every rank "
          "(TORCH_NCCL_TRACE_BUFFER_SIZE) and writes them when the watchdog fires "
          "(TORCH_NCCL_DUMP_ON_TIMEOUT).",
      .fix = {.kind = FixKind::environment,
              .set = {"TORCH_DISTRIBUTED_DEBUG=DETAIL", "NCCL_DEBUG=INFO",
                      "TORCH_NCCL_TRACE_BUFFER_SIZE=2000", "TORCH_NCCL_DUMP_ON_TIMEOUT=1"},
              .text = "run again with debug output, and give init_process_group a timeout that fails early"},
      .example =
          "[rank2]:[F ProcessGroupNCCL.cpp:1371] [PG ID 0 PG GUID 0 Rank 2] ProcessGroupNCCL's watchdog got "
          "stuck for 480 seconds without making progress in monitoring enqueued collectives.",
      .signs =
          {
              {.pattern = "due to pending nccl operations", .certainty = 55, .role = Role::symptom},
              {.pattern = "heartbeat monitor*stuck", .certainty = 58, .role = Role::symptom},
              {.pattern = "watchdog got stuck for*without making progress",
               .certainty = 70,
               .role = Role::symptom},
              {.pattern = "heartbeat monitor timed out", .certainty = 60, .role = Role::symptom},
              {.pattern = "terminating the process after attempting to dump debug info, due to*hang",
               .certainty = 60,
               .role = Role::symptom},
              {.pattern = "processgroupnccl*watchdog hang", .certainty = 60, .role = Role::symptom},
              {.pattern = "gloo*timed out waiting*for send operation to complete",
               .certainty = 62,
               .role = Role::symptom},
              {.pattern = "gloo*timed out waiting*for recv operation to complete",
               .certainty = 62,
               .role = Role::symptom},
              {.pattern = "timed out waiting*ms for*operation to complete",
               .certainty = 60,
               .role = Role::symptom},
              {.pattern = "heartbeatmonitor*stuck", .certainty = 55, .role = Role::symptom},
              {.pattern = "watchdog caught collective operation timeout",
               .certainty = 40,
               .role = Role::symptom},
              {.pattern = "py-spy dump*all_reduce", .certainty = 30, .role = Role::symptom},
          },
  };
}

}  // namespace

std::vector<Rule> collectives_hang_without_cause_rules() {
  return {hang()};
}

}  // namespace shardlab
