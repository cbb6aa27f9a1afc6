// Policies that name classes or take functions.
#include "engine/doctor/case.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<Finding> check_policy_program(const Rule& rule, const Case& facts) {
  const auto policy = first_line_with(*facts.program, {"lambda_fn=lambda module,", "lambda_fn=lambda m,"});
  return policy ? std::vector<Finding>{finding_of_program(rule, 85, {*policy})} : std::vector<Finding>();
}

Rule unknown_class() {
  return {
      .id = "wrap/unknown-class",
      .codes = {"A-19", "D-21"},
      .title = "no module has the class that is to be wrapped",
      .severity = Severity::error,
      .needs = {Need::files, Need::log},
      .source = "accelerate/utils/dataclasses.py (set_auto_wrap_policy); transformers/trainer.py",
      .message = "The class that the wrap policy names is not in this model.",
      .explanation =
          "The name must be that of the module's class, as printed by the model; it differs by family and by "
          "version of the library.",
      .fix = {.kind = FixKind::settings,
              .text = "name the layer's class as the model prints it (`shardlab model M` lists classes), in "
                      "parallel.wrap.classes or fsdp_transformer_layer_cls_to_wrap"},
      .example = "Exception: Could not find the transformer layer class to wrap in the model.",
      .signs =
          {
              {.pattern = "could not find the transformer layer class", .certainty = 95},
              {.pattern = "could not find the transformer layer cls", .certainty = 95},
              {.pattern = "could not find the*layer class*to wrap in the model", .certainty = 95},
              {.pattern = "could not find the transformer layer*in the model", .certainty = 93},
              {.pattern = "could not find a transformer layer class called*to wrap in the model",
               .certainty = 95},
              {.pattern = "could not find cls*", .certainty = 60, .frame = "wrap"},
              {.pattern = "no module of class*in this model", .certainty = 60},
              {.pattern = "expected*transformer_layer_cls", .certainty = 80},
              {.pattern = "transformer_layer_cls*should be", .certainty = 70},
              {.pattern = "fsdp_transformer_layer_cls_to_wrap*not found", .certainty = 85},
              {.pattern = "transformer layer class*not found", .certainty = 85},
          },
      .faults = {{.code = ErrorCode::unknown_class}},
  };
}

Rule policy_signature() {
  return {
      .id = "wrap/policy-signature",
      .codes = {"B-14"},
      .title = "the wrap policy is called with other arguments",
      .severity = Severity::error,
      .needs = {Need::log, Need::program},
      .source = "torch/distributed/fsdp/wrap.py",
      .message = "The function given as a wrap policy takes other arguments than it is called with.",
      .explanation =
          "A lambda policy is called with the module alone; a policy function with (module, recurse, "
          "nonwrapped_numel). Versions before 2.0 called the last one unwrapped_params.",
      .fix = {.kind = FixKind::code,
              .text = "give a predicate of one argument to lambda_auto_wrap_policy or CustomPolicy, or bind "
                      "the arguments with functools.partial"},
      .example =
          "TypeError: transformer_auto_wrap_policy() missing 1 required positional argument: "
          "'transformer_layer_cls'",
      .signs =
          {
              {.pattern = "typeerror*auto_wrap_policy()", .certainty = 88},
              {.pattern = "typeerror*wrap_policy()*argument", .certainty = 88},
              {.pattern = "typeerror*unexpected keyword argument 'nonwrapped_numel'", .certainty = 92},
              {.pattern = "typeerror*unexpected keyword argument 'unwrapped_params'", .certainty = 92},
              {.pattern = "typeerror*unexpected keyword argument 'recurse'", .certainty = 88},
              {.pattern = "typeerror*lambda*positional argument", .certainty = 80, .frame = "wrap.py"},
              {.pattern = "typeerror*positional argument", .certainty = 75, .frame = "_recursive_wrap"},
              {.pattern = "typeerror*argument", .certainty = 72, .frame = "_recursive_wrap"},
              {.pattern = "auto_wrap_policy should be callable", .certainty = 80},
          },
      .checks = {{.needs = {Need::program}, .run = check_policy_program}},
  };
}

}  // namespace

std::vector<Rule> wrap_classes_rules() {
  return {unknown_class(), policy_signature()};
}

}  // namespace shardlab
