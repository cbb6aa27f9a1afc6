// Where checkpoints go.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule too_many() {
  return {
      .id = "checkpoint/too-many",
      .codes = {"D-16", "E-22"},
      .title = "checkpoints fill the disk",
      .severity = Severity::error,
      .needs = {Need::prediction, Need::environment, Need::log},
      .threshold = "bytes of a save times the number kept above the disk",
      .source = "sizes of the states",
      .message = "The disk is full: checkpoints that are kept need more than it has.",
      .explanation = "A full training state is 14 to 18 bytes a parameter, times the number kept.",
      .fix = {.kind = FixKind::settings,
              .text = "keep fewer (train.save.keep) and save less often (train.save.every)"},
      .example = "OSError: [Errno 28] No space left on device, while saving",
      .signs =
          {
              {.pattern = "oserror: [errno 28] no space left on device", .certainty = 85},
              {.pattern = "[errno 28] no space left on device", .certainty = 82},
              {.pattern = "no space left on device",
               .certainty = 66,
               .unless = {"shm", "posix_fallocate", "nccl"}},
              {.pattern = "disk quota exceeded", .certainty = 90},
              {.pattern = "errno 122", .certainty = 80},
              {.pattern = "pytorchstreamwriter failed writing file", .certainty = 84},
              {.pattern = "safetensors*no space left", .certainty = 85},
          },
  };
}

}  // namespace

std::vector<Rule> checkpoint_disk_full_rules() {
  return {too_many()};
}

}  // namespace shardlab
