// Keys of a state dict.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_no_state =
    "The optimizer has no state for a parameter that FSDP trains: it never had a gradient, or the optimizer "
    "holds other parameters.";
constexpr std::string_view k_no_state_fix =
    "freeze what the loss does not reach, save after the first step at the earliest, and make the optimizer "
    "from the wrapped model's parameters";

Rule keys() {
  return {
      .id = "checkpoint/keys",
      .codes = {"C-30"},
      .title = "keys of the checkpoint and of the model differ",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "torch/nn/modules/module.py (load_state_dict); torch/distributed/checkpoint",
      .message = "The checkpoint has other keys than the model.",
      .explanation =
          "Wrappers put their names into keys: `module.` (DDP), `_orig_mod.` (compile), "
          "`_fsdp_wrapped_module.`, `_checkpoint_wrapped_module.`, `base_model.model.` (adapters). Loading "
          "without strictness hides real losses.",
      .fix = {.kind = FixKind::code,
              .text = "rename the keys (strip the wrapper's prefix) or save from the unwrapped model; list "
                      "what is skipped rather than loading without strictness"},
      .example =
          "RuntimeError: Error(s) in loading state_dict for GPT:\nUnexpected key(s) in state_dict: "
          "\"_orig_mod.encoder.weight\"",
      .signs =
          {
              {.pattern = "fsdp assumes*is in the state_dict",
               .certainty = 84,
               .message = "FSDP does not find its parameters under their names: the state dict is made past "
                          "its hooks, or original and flat parameters are mixed.",
               .fix = "take the state dict from the wrapped root, in the same version that wrapped it"},
              {.pattern = "is not in the output state. the fsdpparaminfo has the param keys",
               .certainty = 84},
              {.pattern = "is not in the optimizer state. the fsdpparaminfo has the param keys",
               .certainty = 84,
               .message = k_no_state,
               .fix = k_no_state_fix},
              {.pattern = "the state of*is empty. this should happen when use_orig_params",
               .certainty = 84,
               .message = k_no_state,
               .fix = k_no_state_fix},
              {.pattern = "you set `ignore_mismatched_sizes` to `false`, thus raising an error",
               .certainty = 84,
               .message = "Tensors of the checkpoint have other shapes than the model's.",
               .fix = "load with the checkpoint's own configuration and resize afterwards "
                      "(resize_token_embeddings); ignore_mismatched_sizes=True only where the layer is "
                      "trained anew"},
              {.pattern = "could not find fqn", .certainty = 76},
              {.pattern = "checkpoint contains neither", .certainty = 82},
              {.pattern = "model state_dict is required to save or load, but", .certainty = 78},
              {.pattern = "model state_dict is required to save, or load but", .certainty = 78},
              {.pattern = "runtimeerror: missing key: ", .certainty = 80, .frame = "checkpoint/state_dict"},
              {.pattern = "an unexpected key*exists. fqn is", .certainty = 84},
              {.pattern = "missing optimizer state for parameter",
               .certainty = 82,
               .message = "The checkpoint has no optimizer state for a parameter that is trained.",
               .fix = "resume with the parameters that were trained before, or load the weights only"},
              {.pattern = "checkpoint at*is missing keys", .certainty = 82},
              {.pattern = "trying to set a tensor of shape*which has shape",
               .certainty = 80,
               .unless = {"torch.size([0])"}},
              {.pattern = "some weights of*were not initialized from the model checkpoint",
               .certainty = 30,
               .message = "The model has weights that the checkpoint lacks; they start at random. Expected "
                          "for a new head.",
               .most = Severity::info},
              {.pattern = "missing key(s) in state_dict",
               .certainty = 88,
               .unless = {"missing key(s) in state_dict: <"}},
              {.pattern = "unexpected key(s) in state_dict", .certainty = 88},
              {.pattern = "missing key in checkpoint state_dict", .certainty = 93},
              {.pattern = "unexpected key in checkpoint", .certainty = 85},
              {.pattern = "error(s) in loading state_dict", .certainty = 66},
              {.pattern = "loading*state_dict*missing key", .certainty = 75},
              {.pattern = "missing keys*when loading", .certainty = 50},
              {.pattern = "state_dict contains keys that are not used by the model",
               .certainty = 60,
               .most = Severity::warning},
              {.pattern = "keyerror: ", .certainty = 66, .frame = "load_state_dict(*["},
              {.pattern = "keyerror: 'module.", .certainty = 75},
              {.pattern = "keyerror: '_orig_mod", .certainty = 80},
              {.pattern = "keyerror: 'model.*weight'", .certainty = 65},
              {.pattern = "keyerror: 'base_model", .certainty = 70},
              {.pattern = "size mismatch for*copying a param with shape",
               .certainty = 66,
               .unless = {"torch.size([0])"}},
          },
  };
}

}  // namespace

std::vector<Rule> checkpoint_state_keys_rules() {
  return {keys()};
}

}  // namespace shardlab
