// Code that is not compiled.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule graph_breaks() {
  return {
      .id = "compile/graph-breaks",
      .codes = {"C-27"},
      .title = "the graph breaks",
      .severity = Severity::warning,
      .needs = {Need::measurement, Need::log},
      .source = "torch/_dynamo, TORCH_LOGS=graph_breaks",
      .message = "Code in the compiled part breaks the graph: control flow on data, prints, or .item().",
      .explanation = "At a break compiled code ends and Python goes on; each costs launches and fusion.",
      .fix = {.kind = FixKind::code,
              .text = "move what depends on data out of the compiled part, or compile block by block"},
      .example =
          "torch/_dynamo/variables/tensor.py:776] [0/0] Graph break from `Tensor.item()`, consider setting:",
      .signs =
          {
              {.pattern = "graph break", .certainty = 75},
              {.pattern = "torch._dynamo.exc.unsupported", .certainty = 80},
              {.pattern = "dynamo*data-dependent", .certainty = 80},
              {.pattern = "data-dependent control flow", .certainty = 78},
              {.pattern = "data dependent branching", .certainty = 78},
              {.pattern = "could not guard on data-dependent expression", .certainty = 88},
              {.pattern = "guardondatadependentsymnode", .certainty = 90},
              {.pattern = "dynamic control flow is not supported at the moment", .certainty = 90},
              {.pattern = "dynamic slicing*not supported", .certainty = 70},
              {.pattern = "torch._dynamo.exc.usererror", .certainty = 72},
              {.pattern = "call_function*in skip_files", .certainty = 78},
              {.pattern = "torch.* op returned non-tensor", .certainty = 80},
              {.pattern = "user defined object*unsupported", .certainty = 55},
              {.pattern = "torch._dynamo hit config.*cache_size_limit", .certainty = 82},
              {.pattern = "torch._dynamo hit config.*recompile_limit", .certainty = 82},
              {.pattern = "recompile_limit reached", .certainty = 82},
              {.pattern = "recompilation*triggered", .certainty = 40, .most = Severity::info},
              {.pattern = "internaltorchdynamoerror", .certainty = 62},
              {.pattern = "backendcompilerfailed",
               .certainty = 60,
               .message = "torch.compile failed: its backend could not compile what was traced.",
               .fix = "compile block by block and leave the failing part out (torch.compiler.disable); "
                      "under DDP try torch._dynamo.config.optimize_ddp=False; TORCH_LOGS=+dynamo says more"},
              {.pattern = "torch._dynamo.exc.", .certainty = 60},
          },
  };
}

Rule skipped_frame() {
  return {
      .id = "compile/skipped-frame",
      .codes = {"C-28"},
      .title = "a frame was not compiled",
      .severity = Severity::warning,
      .needs = {Need::log},
      .source = "torch/_dynamo/convert_frame.py",
      .message = "Dynamo gave a function up and runs it as it is.",
      .explanation =
          "The function uses what cannot be traced. Suppressing errors hides it; marking the function says "
          "so.",
      .fix = {.kind = FixKind::code, .text = "mark the function with torch.compiler.disable, or change it"},
      .example = "WARNING torch/_dynamo/convert_frame.py: WON'T CONVERT forward train.py line 12",
      .signs =
          {
              {.pattern = "won't convert", .certainty = 92},
              {.pattern = "skipping frame", .certainty = 88},
              {.pattern = "torchdynamo*skipping", .certainty = 80},
              {.pattern = "dynamo*skip*frame", .certainty = 78},
              {.pattern = "torch._dynamo*unimplemented*skip", .certainty = 72},
              {.pattern = "skip calling `torch.compiler.disable()`d", .certainty = 80},
          },
  };
}

}  // namespace

std::vector<Rule> compile_graph_breaks_rules() {
  return {graph_breaks(), skipped_frame()};
}

}  // namespace shardlab
