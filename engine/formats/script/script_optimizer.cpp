#include <fmt/format.h>

#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/formats/tools/program_rules.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

constexpr std::string_view k_optimizer = R"py(

def make_optimizer(model):
    return @CALL@
)py";

constexpr std::string_view k_rate = R"py(

def learning_rate(step):
    """Linear from 0 in the first steps, then @FALL@."""
@WARMUP@@AFTER@
)py";

std::string fall_of(ScheduleKind kind) {
  switch (kind) {
    case ScheduleKind::constant: return "constant";
    case ScheduleKind::linear: return "linear to 0";
    case ScheduleKind::cosine: return "half a cosine to 0";
  }
  return {};
}

std::string after_warmup(const TrainSpec& train) {
  const ScheduleSpec& schedule = train.schedule;
  if (schedule.kind == ScheduleKind::constant) return fmt::format("    return {}", train.learning_rate);
  const std::string progress =
      fmt::format("    progress = min(1.0, (step - {}) / {})\n", schedule.warmup_steps,
                  std::max(1, schedule.total_steps - schedule.warmup_steps));
  const char* const factor =
      schedule.kind == ScheduleKind::linear ? "(1 - progress)" : "0.5 * (1 + math.cos(math.pi * progress))";
  return fmt::format("{}    return {} * {}", progress, train.learning_rate, factor);
}

}  // namespace

std::string script_optimizer(const ExportSubject& subject) {
  const TrainSpec& train = *subject.scenario.train;
  std::string text = filled(k_optimizer, {{"CALL", optimizer_call(subject)}});
  if (train.schedule.kind == ScheduleKind::constant && train.schedule.warmup_steps == 0) return text;
  const std::string warmup = train.schedule.warmup_steps == 0
                                 ? ""
                                 : fmt::format("    if step < {0}:\n        return {1} * step / {0}\n",
                                               train.schedule.warmup_steps, train.learning_rate);
  return text +
         filled(k_rate,
                {{"FALL", fall_of(train.schedule.kind)}, {"WARMUP", warmup}, {"AFTER", after_warmup(train)}});
}

}  // namespace shardlab
