// Functions whose gradient is not finite.
#include "engine/doctor/case.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<Finding> check_logarithm(const Rule& rule, const Case& facts) {
  const auto unstable = first_line_with(
      *facts.program, {"torch.log(torch.softmax(", "torch.log(F.softmax(", "torch.log(nn.functional.softmax(",
                       "torch.log(torch.sigmoid(", "softmax(logits,dim=-1).log()"});
  if (!unstable) return {};
  Finding finding = finding_of_program(rule, 80, {*unstable});
  finding.severity = Severity::warning;
  finding.message = "The logarithm of a softmax is taken in two steps, of which the second may see zero.";
  return {finding};
}

Rule unstable_loss() {
  return {
      .id = "numerics/unstable-loss",
      .codes = {"C-12", "C-33"},
      .title = "the loss function is unstable",
      .severity = Severity::error,
      .needs = {Need::measurement, Need::log, Need::program},
      .threshold = "NaN in the loss before any gradient is NaN",
      .source = "torch.nn.functional.cross_entropy, log_softmax",
      .message = "The loss overflows or takes the logarithm of zero.",
      .explanation =
          "Softmax followed by a logarithm overflows for large logits and gives -inf for small ones; the "
          "fused cross-entropy does not.",
      .fix =
          {.kind = FixKind::code,
           .text =
               "use cross_entropy or log_softmax on the logits, in float32, with no logarithm of a softmax"},
      .example = "RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.",
      .signs =
          {
              {.pattern = "function 'log*backward0' returned nan", .certainty = 80},
              {.pattern = "function 'softmaxbackward0' returned nan", .certainty = 80},
              {.pattern = "function '_softmaxbackward0' returned nan", .certainty = 80},
              {.pattern = "function 'logsoftmaxbackward0' returned nan", .certainty = 82},
              {.pattern = "function 'expbackward0' returned nan", .certainty = 80},
              {.pattern = "function 'nlllossbackward0' returned nan", .certainty = 80},
              {.pattern = "function 'logsumexpbackward0' returned nan", .certainty = 80},
          },
      .checks = {{.needs = {Need::program}, .run = check_logarithm}},
  };
}

Rule normalisation() {
  return {
      .id = "numerics/normalisation",
      .codes = {"C-13"},
      .title = "a division by zero in a normalisation",
      .severity = Severity::error,
      .needs = {Need::measurement, Need::log},
      .threshold = "NaN first in a normalisation layer",
      .source = "torch.autograd's derivative formulas",
      .message = "A division, root or norm has no epsilon: its gradient is infinite at zero.",
      .explanation =
          "The derivative of a square root or of a norm at zero is infinite, and a standard deviation can be "
          "zero.",
      .fix = {.kind = FixKind::code, .text = "add an epsilon below the root or in the denominator"},
      .example = "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.",
      .signs =
          {
              {.pattern = "function 'sqrtbackward0' returned nan", .certainty = 94},
              {.pattern = "function 'rsqrtbackward0' returned nan", .certainty = 94},
              {.pattern = "function 'divbackward0' returned nan", .certainty = 94},
              {.pattern = "function 'powbackward0' returned nan", .certainty = 90},
              {.pattern = "function 'stdbackward0' returned nan", .certainty = 94},
              {.pattern = "function 'nativelayernormbackward0' returned nan", .certainty = 94},
              {.pattern = "function 'linalgvectornormbackward0' returned nan", .certainty = 94},
              {.pattern = "function 'normbackward*returned nan", .certainty = 94},
              {.pattern = "function '*batchnorm*returned nan", .certainty = 94},
              {.pattern = "zerodivisionerror", .certainty = 35},
          },
  };
}

}  // namespace

std::vector<Rule> numerics_unstable_loss_rules() {
  return {unstable_loss(), normalisation()};
}

}  // namespace shardlab
