// Links that fail.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule bad_link() {
  return {
      .id = "network/bad-link",
      .codes = {"E-11"},
      .title = "a link is bad",
      .severity = Severity::error,
      .needs = {Need::measurement, Need::log},
      .threshold = "one pair far below the others, or completions with errors",
      .source = "InfiniBand's completion codes (12: retry counter exceeded); NVIDIA's Xid errors",
      .message = "Transfers between one pair of nodes or devices fail or are slow.",
      .explanation =
          "Retries that run out (completion with status 12), flapping ports, remote access errors and Xid "
          "errors of NVLink belong to one cable, adapter or device.",
      .fix = {.kind = FixKind::command,
              .text = "name the pair and test it alone (ib_write_bw, nccl-tests); exclude the node, then "
                      "have the port looked at"},
      .example =
          "ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 192.0.2.36<54862> with status=12 "
          "opcode=0 len=0 vendor err 129 (Recv)",
      .signs =
          {
              {.pattern = "pcie bus error: severity=uncorrected", .certainty = 76},
              {.pattern = "aer: uncorrected", .certainty = 74},
              {.pattern = "net/ofi request*completed with error", .certainty = 72},
              {.pattern = "with status=12", .certainty = 90},
              {.pattern = "completion*error 12", .certainty = 90},
              {.pattern = "status=12 opcode=", .certainty = 92},
              {.pattern = "ibv_wc_retry_exc_err", .certainty = 92},
              {.pattern = "retry counter exceeded", .certainty = 90},
              {.pattern = "transport retry*exceeded", .certainty = 90},
              {.pattern = "vendor err 129", .certainty = 85},
              {.pattern = "status=4 opcode=", .certainty = 70},
              {.pattern = "status=10 opcode=", .certainty = 70},
              {.pattern = "status=5 opcode=", .certainty = 60},
              {.pattern = "nvrm: xid*: 74,", .certainty = 92},
              {.pattern = "nvrm: xid*: 144,", .certainty = 90},
              {.pattern = "nvrm: xid*: 145,", .certainty = 90},
              {.pattern = "nvrm: xid*: 146,", .certainty = 90},
              {.pattern = "nvrm: xid*: 147,", .certainty = 90},
              {.pattern = "nvrm: xid*: 148,", .certainty = 90},
              {.pattern = "nvrm: xid*: 149,", .certainty = 90},
              {.pattern = "nvrm: xid*: 150,", .certainty = 90},
              {.pattern = "nvrm: xid*xid 149", .certainty = 84},
              {.pattern = "xid*, nvlink", .certainty = 90},
              {.pattern = "nvlink*fatal error", .certainty = 90},
              {.pattern = "nvlink error", .certainty = 85},
              {.pattern = "uncorrectable nvlink error", .certainty = 93},
              {.pattern = "cuda error: uncorrectable nvlink", .certainty = 95},
              {.pattern = "cuda error: an illegal*nvlink", .certainty = 70},
              {.pattern = "port*link down*mlx", .certainty = 80},
              {.pattern = "link_down", .certainty = 40},
              {.pattern = "got async event : port error", .certainty = 84},
          },
  };
}

}  // namespace

std::vector<Rule> network_bad_link_rules() {
  return {bad_link()};
}

}  // namespace shardlab
