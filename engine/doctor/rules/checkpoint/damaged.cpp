// Files that are missing or end too early.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule damaged() {
  return {
      .id = "checkpoint/damaged",
      .codes = {"E-19"},
      .title = "the checkpoint is damaged or incomplete",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .source =
          "torch/serialization.py; safetensors' header; torch.distributed.checkpoint's .metadata; "
          "deepspeed/runtime/engine.py",
      .message = "Files of the checkpoint are missing, or end too early.",
      .explanation =
          "A save that was interrupted (killed, disk full, quota) leaves a part of the files; the index "
          "names all.",
      .fix = {.kind = FixKind::command,
              .text = "compare the files with the index (model.safetensors.index.json, .metadata, the shards "
                      "of all ranks); load the last complete save"},
      .example =
          "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
      .signs =
          {
              {.pattern = "no zero files found in", .certainty = 88},
              {.pattern = "is not a zero checkpoint", .certainty = 86},
              {.pattern = "is not a model state checkpoint", .certainty = 86},
              {.pattern = "can't find model states file at", .certainty = 88},
              {.pattern = "unable to find 'latest' file at", .certainty = 86},
              {.pattern = "_optim_states.pt' under*but found",
               .certainty = 90,
               .message = "The folder has not one file of optimizer states for each rank that wrote it: "
                          "files of two saves are in it, or some ranks did not finish theirs.",
               .fix = "keep one save a folder, and take one that all ranks have written"},
              {.pattern = "numels out of*something is wrong",
               .certainty = 86,
               .message = "The partitions in the checkpoint do not add up to the parameters: files of "
                          "another save or version are among them, or frozen parameters were left out.",
               .fix = "convert with the zero_to_fp32.py that the same version of DeepSpeed put beside the "
                      "checkpoint"},
              {.pattern = "parameter alignment paddings for group", .certainty = 84},
              {.pattern = "is not found in the checkpoint", .certainty = 74},
              {.pattern = "expert checkpoint file not found", .certainty = 88},
              {.pattern = "tried to find*but folder does not exist", .certainty = 80},
              {.pattern = "assertionerror: metadata is none", .certainty = 82},
              {.pattern = "assertionerror",
               .certainty = 66,
               .frame = "torch/distributed/checkpoint/state_dict_loader.py*local_step",
               .message = "The distributed checkpoint has no metadata that this rank could read: a save that "
                          "did not end, another folder, or one that this node does not see.",
               .fix =
                   "every node must see the same folder, with .metadata in it; load the last complete save"},
              {.pattern = "failed to resume from checkpoint",
               .certainty = 78,
               .message = "The folder holds no checkpoint that the engine can resume.",
               .fix = "look that the folder holds global_step*/ with the states of all ranks, and resume "
                      "from a whole checkpoint"},
              {.pattern = "checkpoint file not found at", .certainty = 80},
              {.pattern = "neither a state dict nor checkpoint files were found", .certainty = 76},
              {.pattern = "assert len(self.ckpt_list) > 0",
               .certainty = 84,
               .message = "A folder of a checkpoint holds none of the files that are looked for.",
               .fix = "list the folder: mp_rank_*_model_states.pt and, for a resume, the optimizer states of "
                      "all ranks must be there"},
              {.pattern = "unable to open file*read-only mode", .certainty = 78},
              {.pattern = "unable to load weights from*checkpoint file", .certainty = 86},
              {.pattern = "without having git-lfs installed", .certainty = 88},
              {.pattern = "checkpoint*is incomplete", .certainty = 80},
              {.pattern = "no such file or directory*rng_state", .certainty = 62},
              {.pattern = "pytorchstreamreader failed", .certainty = 92},
              {.pattern = "failed finding central directory", .certainty = 93},
              {.pattern = "error while deserializing header", .certainty = 93},
              {.pattern = "metadataincompletebuffer", .certainty = 94},
              {.pattern = "invalidheaderdeserialization", .certainty = 94},
              {.pattern = "headertoolarge", .certainty = 90},
              {.pattern = "headertoosmall", .certainty = 90},
              {.pattern = "safetensorerror", .certainty = 80},
              {.pattern = "unexpected eof, expected", .certainty = 85},
              {.pattern = "the file might be corrupted", .certainty = 90},
              {.pattern = "file might be corrupt", .certainty = 88},
              {.pattern = "unexpected pos*vs", .certainty = 80},
              {.pattern = "storage has wrong size: expected", .certainty = 88},
              {.pattern = "runtimeerror: ", .certainty = 60, .frame = "_set_from_file("},
              {.pattern = "inline_container.cc", .certainty = 70},
              {.pattern = "eoferror: ran out of input", .certainty = 80},
              {.pattern = "unpicklingerror: invalid load key", .certainty = 88},
              {.pattern = "unpicklingerror: pickle data was truncated", .certainty = 92},
              {.pattern = "bad magic number", .certainty = 60},
              {.pattern = "is not a checkpoint or a module package", .certainty = 80},
              {.pattern = "no such file or directory*.distcp", .certainty = 93},
              {.pattern = "no such file or directory*.metadata", .certainty = 92},
              {.pattern = "no such file or directory*mp_rank_", .certainty = 92},
              {.pattern = "no such file or directory*zero_pp_rank", .certainty = 93},
              {.pattern = "no such file or directory*safetensors", .certainty = 84},
              {.pattern = "no such file or directory*pytorch_model", .certainty = 84},
              {.pattern = "no such file or directory*.pt'", .certainty = 70},
              {.pattern = "no such file or directory*optimizer", .certainty = 60},
              {.pattern = "no such file or directory*checkpoint", .certainty = 72},
              {.pattern = "client provided checkpoint storage is not", .certainty = 50},
              {.pattern = "unable to find latest file at",
               .certainty = 84,
               .message =
                   "DeepSpeed found no checkpoint in the folder and trains on from what is there: in a "
                   "first start that is meant, in a resumed job everything is lost.",
               .fix = "the folder above the tags, which holds the file latest; or load_checkpoint with a tag",
               .most = Severity::warning},
              {.pattern = "the following zero checkpoints paths are missing", .certainty = 95},
              {.pattern = "zero checkpoints paths are missing", .certainty = 95},
              {.pattern = "expected*zero*files*found", .certainty = 55},
              {.pattern = "no file named*found in directory", .certainty = 80},
              {.pattern = "error no file named", .certainty = 85},
              {.pattern = "does not appear to have a file named", .certainty = 80},
              {.pattern = "can't find a valid checkpoint at", .certainty = 85},
              {.pattern = "no valid checkpoint found", .certainty = 80},
              {.pattern = "no checkpoint found", .certainty = 60},
              {.pattern = "no space left on device", .certainty = 72, .frame = "save"},
          },
  };
}

}  // namespace

std::vector<Rule> checkpoint_damaged_rules() {
  return {damaged()};
}

}  // namespace shardlab
