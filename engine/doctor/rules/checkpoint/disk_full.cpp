// Where checkpoints go.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_short_swap_file =
    "A swap file of ZeRO's NVMe offload is shorter than its tensor: the disk of nvme_path is full, or the"
    " buffer does not fit the tensor.";

constexpr std::string_view k_full_cache =
    "The disk of the hub's cache is full: models and data sets are downloaded into the home folder unless "
    "told otherwise.";
constexpr std::string_view k_larger_cache =
    "export HF_HOME=/large/disk/huggingface on every node before the job (HF_HUB_CACHE and "
    "HF_DATASETS_CACHE move its parts); df -h ~/.cache shows how full it is";

LogSign of_full_cache(std::string_view pattern) {
  return {.pattern = pattern, .certainty = 94, .message = k_full_cache, .fix = k_larger_cache};
}

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
              {.pattern = "% full, available space",
               .certainty = 80,
               .message = "The disk of Ray's session is nearly full: it spills objects there, and fails when "
                          "it cannot.",
               .fix = "free it, or ray start --temp-dir on a larger disk (df -h shows which)"},
              {.pattern = "write(): fd*failed", .certainty = 80},
              {.pattern = "unexpected pos*vs", .certainty = 86, .frame = "save"},
              of_full_cache("no space left on device*/.cache/huggingface/"),
              of_full_cache("no space left on device*/huggingface/hub/"),
              of_full_cache("no space left on device*/huggingface/datasets/"),
              of_full_cache("no space left on device*.incomplete"),
              of_full_cache("not enough free disk space to download"),
              {.pattern = "not enough free disk space", .certainty = 66, .most = Severity::warning},
              {.pattern = "not enough space on the disk", .certainty = 84},
              {.pattern = "buffer nbytes != file bytes",
               .certainty = 72,
               .message = k_short_swap_file,
               .fix =
                   "df -h of nvme_path; then offload.buffer_size at least as large as the largest parameter"},
              {.pattern = "nbytes()*== num_file_bytes*failed",
               .certainty = 70,
               .message = k_short_swap_file,
               .fix =
                   "df -h of nvme_path; then offload.buffer_size at least as large as the largest parameter"},
              {.pattern = "file write failed", .certainty = 66},
              {.pattern = "oserror: [errno 28] no space left on device", .certainty = 85},
              {.pattern = "[errno 28] no space left on device", .certainty = 82},
              {.pattern = "no space left on device",
               .certainty = 66,
               .unless = {"shm", "posix_fallocate", "nccl"}},
              {.pattern = "disk quota exceeded", .certainty = 90},
              {.pattern = "the node was low on resource: ephemeral-storage", .certainty = 90},
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
