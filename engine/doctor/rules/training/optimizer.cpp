// The optimizer's place in the program.
#include "engine/doctor/case.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

// Where an optimizer takes the parameters of the module.
bool takes_parameters(const ProgramLine& line, const std::string& module) {
  const bool is_optimizer = line.text.find("optim.") != std::string::npos ||
                            line.text.find("Adam") != std::string::npos ||
                            line.text.find("SGD(") != std::string::npos;
  return is_optimizer && line.text.find(module + ".parameters()") != std::string::npos;
}

std::vector<Finding> check_made_before(const Rule& rule, const Case& facts) {
  std::vector<Call> wrapped = fsdp1_calls(*facts.program);
  for (Call& call : fsdp2_calls(*facts.program)) wrapped.push_back(std::move(call));
  for (const Call& wrap : wrapped) {
    for (const ProgramLine& line : wrap.file->lines) {
      const Call made{wrap.file, &line, "", ""};
      if (!wrap.argument.empty() && is_before(made, wrap) && takes_parameters(line, wrap.argument))
        return {finding_of_program(rule, 86, {made, wrap})};
    }
  }
  return {};
}

Rule optimizer_before_wrapping() {
  return {
      .id = "training/optimizer-before-wrapping",
      .codes = {"B-25"},
      .title = "the optimizer was built before the model was wrapped",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log, Need::program},
      .source = "FSDP's documentation; torch/optim/optimizer.py",
      .message = "The optimizer holds parameters that are not the sharded ones.",
      .explanation =
          "Wrapping replaces the parameters; an optimizer made before updates tensors that nobody uses, or "
          "finds them empty.",
      .fix = {.kind = FixKind::code,
              .text = "wrap first, then make the optimizer of the wrapped model's parameters"},
      .example = "ValueError: optimizer got an empty parameter list",
      .signs =
          {
              {.pattern = "optimizer does not seem to reference any*parameters", .certainty = 90},
              {.pattern = "optimizer*reference*parameters*before*wrapp", .certainty = 70},
              {.pattern = "couldn't be switched to its sharded version", .certainty = 92},
              {.pattern = "the size of tensor a*must match the size of tensor b",
               .certainty = 70,
               .frame = "optim",
               .message = "The optimizer's state and the gradient differ in size: one is a shard's, the "
                          "other the whole parameter's (an optimizer made before wrapping, a state of "
                          "another number of ranks, gradients left unsharded by no_sync).",
               .fix = "make the optimizer after wrapping; let the last micro-step of every step synchronise; "
                      "load states through the distributed helpers"},
              {.pattern = "optimizer got an empty parameter list", .certainty = 75},
              {.pattern = "no inf checks were recorded for this optimizer",
               .certainty = 72,
               .message =
                   "None of the optimizer's parameters has a gradient: it was made before wrapping, or "
                   "backward did not run.",
               .fix = "make the optimizer from the wrapped model's parameters; scaler.scale(loss).backward() "
                      "before scaler.step(optimizer)"},
              {.pattern = "optimizer*parameters*not*sharded", .certainty = 60},
              {.pattern = "optimizer must be created after", .certainty = 88},
              {.pattern = "recommended to call prepare for the model before creating the optimizer",
               .certainty = 62},
              {.pattern = "created after wrapping", .certainty = 80},
              {.pattern = "optimizer*does not match*flat", .certainty = 55},
              {.pattern = "optimizer*was initialized*before*fsdp", .certainty = 85},
              {.pattern = "if you are passing the model*optimizer*before", .certainty = 40},
              {.pattern = "when using fsdp*optimizer*created*prepare", .certainty = 80},
              {.pattern = "the model and the optimizer*do not share the same parameters", .certainty = 75},
              {.pattern = "expects optimizer to be created", .certainty = 70},
          },
      .checks = {{.needs = {Need::program}, .run = check_made_before}},
  };
}

}  // namespace

std::vector<Rule> training_optimizer_rules() {
  return {optimizer_before_wrapping()};
}

}  // namespace shardlab
