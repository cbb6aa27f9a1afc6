// torch.compile and wrapping.
#include "engine/doctor/case.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

// What a line gives its value to: "model" of `model=torch.compile(model)`.
std::string assigned(const ProgramLine& line) {
  const std::size_t equals = line.text.find('=');
  return equals == std::string::npos ? std::string() : line.text.substr(0, equals);
}

std::vector<Finding> check_compiled_first(const Rule& rule, const Case& facts) {
  for (const Call& wrapped : fsdp1_calls(*facts.program)) {
    if (wrapped.argument.starts_with("torch.compile(")) return {finding_of_program(rule, 88, {wrapped})};
    for (const Call& compiled : calls_of(*facts.program, "compile")) {
      const bool is_of_torch = compiled.line->text.find("torch.compile(") != std::string::npos;
      if (is_of_torch && is_before(compiled, wrapped) && assigned(*compiled.line) == wrapped.argument)
        return {finding_of_program(rule, 88, {compiled, wrapped})};
    }
  }
  return {};
}

Rule original_parameters() {
  return {
      .id = "compile/original-parameters",
      .codes = {"A-17", "B-05"},
      .title = "compile needs original parameters",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch/_dynamo/variables",
      .message = "Compiling a model of FSDP1 needs use_orig_params.",
      .explanation = "Dynamo guards on parameters; flattened ones replace them.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.use_orig_params=true"},
              .text = "use original parameters"},
      .example = "AssertionError: Dynamo only supports FSDP with use_orig_params=True",
      .signs =
          {
              {.pattern = "dynamo only supports fsdp with use_orig_params", .certainty = 95},
              {.pattern = "use_orig_params=true*required", .certainty = 92},
              {.pattern = "requires*use_orig_params*compile", .certainty = 88},
              {.pattern = "use_orig_params*torch.compile", .certainty = 82},
              {.pattern = "compile*use_orig_params", .certainty = 80},
              {.pattern = "`use_orig_params=true` is required", .certainty = 92},
              {.pattern = "use_orig_params*must be*true", .certainty = 82},
          },
  };
}

Rule wrap_order() {
  return {
      .id = "compile/wrap-order",
      .codes = {"B-22"},
      .title = "compiled before it was wrapped",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::program},
      .source = "FSDP's documentation",
      .message = "The whole model was compiled, then wrapped.",
      .explanation = "With FSDP1 the order is wrap, then compile; or the inner blocks are compiled.",
      .fix = {.kind = FixKind::code, .text = "wrap, then compile; or compile every block"},
      .example = "FSDP(torch.compile(model))",
      .checks = {{.needs = {Need::program}, .run = check_compiled_first}},
  };
}

Rule breaks_at_hooks() {
  return {
      .id = "compile/breaks-at-hooks",
      .codes = {"A-18"},
      .title = "the wrapper's hooks break the graph",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::log},
      .threshold = "graph breaks above the number of units",
      .source = "torch/_dynamo",
      .message = "Compilation stops at the hooks of a wrapper, unit by unit.",
      .explanation =
          "FSDP1's hooks are not traced. Blocks that are compiled before they are wrapped hold no hooks; "
          "FSDP2 is made for it.",
      .fix = {.kind = FixKind::settings, .text = "compile block by block before wrapping, or use FSDP2"},
      .example = "Graph break in user code at torch/distributed/fsdp/fully_sharded_data_parallel.py",
      .signs =
          {
              {.pattern = "graph break*fsdp", .certainty = 85},
              {.pattern = "graph break*fully_sharded_data_parallel", .certainty = 90},
              {.pattern = "graph break*_fsdp_state", .certainty = 88},
              {.pattern = "graph break*register_*hook", .certainty = 70},
              {.pattern = "skipped function*torch/distributed/fsdp", .certainty = 75},
              {.pattern = "graph break from `tensor.register_hook", .certainty = 66},
          },
  };
}

}  // namespace

std::vector<Rule> compile_with_fsdp_rules() {
  return {original_parameters(), wrap_order(), breaks_at_hooks()};
}

}  // namespace shardlab
