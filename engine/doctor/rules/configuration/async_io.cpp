// The library that offload to NVMe needs.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule async_io_missing() {
  return {
      .id = "configuration/async-io-missing",
      .codes = {"Y-14"},
      .title = "the library of asynchronous input and output is missing",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .source = "deepspeed/ops/op_builder/async_io.py",
      .message = "Offload to NVMe needs libaio, which was not found.",
      .explanation =
          "DeepSpeed builds async_io on first use. Without offload to NVMe it is not needed, and the warning "
          "alone is information.",
      .fix = {.kind = FixKind::command,
              .text =
                  "apt install libaio-dev (or set CFLAGS and LDFLAGS to where it is), then run ds_report"},
      .example =
          "RuntimeError: Unable to JIT load the async_io op due to it not being compatible due to "
          "hardware/software issue.",
      .signs =
          {
              {.pattern = "unable to jit load the async_io", .certainty = 95},
              {.pattern = "async_io*not compatible", .certainty = 60, .unless = {"warning"}},
              {.pattern = "asyncio*libaio", .certainty = 50, .unless = {"warning"}},
              {.pattern = "error building extension 'async_io'", .certainty = 94},
              {.pattern = "importerror*libaio", .certainty = 92},
              {.pattern = "libaio.so", .certainty = 80, .unless = {"warning"}},
              {.pattern = "no module named 'deepspeed.ops.aio", .certainty = 88},
              {.pattern = "async_io: please install the libaio",
               .certainty = 50,
               .message = "libaio is not installed; only offload to NVMe needs it.",
               .most = Severity::info},
              {.pattern = "async_io requires the dev libaio",
               .certainty = 50,
               .message = "libaio is not installed; only offload to NVMe needs it.",
               .most = Severity::info},
          },
  };
}

}  // namespace

std::vector<Rule> configuration_async_io_rules() {
  return {async_io_missing()};
}

}  // namespace shardlab
