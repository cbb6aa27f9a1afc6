#include <fmt/format.h>

#include "engine/formats/script/python_text.h"
#include "engine/formats/script/script_parts.h"
#include "engine/scenario/loss_scaling.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

using Subject = ExportSubject;

constexpr std::string_view k_step = R"py(

def train_step(model, optimizer, batches, step):
    """One update. The mean loss of this rank's tokens, on the device: reading it would make the host wait."""
@RATE@    mean = torch.zeros((), device=DEVICE)
    for micro_batch in range(ACCUMULATION):
        tokens, targets = batches.load(step, micro_batch)
@PASS@        mean += loss.detach() / ACCUMULATION
@UPDATE@    return mean
)py";

bool is_scaled(const Subject& s) {
  return compute_dtype(s) == DType::float16 && s.scenario.scaler->enabled.value_or(true) && !by_deepspeed(s);
}

std::string rate_lines(const Subject& s) {
  const ScheduleSpec& schedule = s.scenario.train->schedule;
  if (schedule.kind == ScheduleKind::constant && schedule.warmup_steps == 0) return {};
  return "    for group in optimizer.param_groups:\n        group[\"lr\"] = learning_rate(step)\n";
}

std::string forward_lines(const Subject& s) {
  std::string lines = loss_inside(s) ? "loss = model(input_ids=tokens, labels=targets).loss\n"
                                     : "logits = model(input_ids=tokens).logits\n"
                                       "loss = next_token_loss(logits, targets)\ndel logits\n";
  if (const auto& autocast = s.scenario.precision->autocast)
    lines =
        fmt::format("with torch.autocast(DEVICE.type, {}):\n{}", torch_dtype(*autocast), indented(lines, 4));
  return lines;
}

std::string backward_line(const Subject& s) {
  if (by_deepspeed(s)) return "model.backward(loss)\nmodel.step()\n";
  const std::string loss = s.scenario.train->accumulation == 1 ? "loss" : "(loss / ACCUMULATION)";
  return is_scaled(s) ? fmt::format("scaler.scale({}).backward()\n", loss) : loss + ".backward()\n";
}

// Gradients go to other ranks with the last micro-batch alone.
bool skips_reductions(const Subject& s) {
  return s.scenario.train->accumulation > 1 && s.scenario.train->sync == GradientSync::last;
}

std::string fsdp2_switches(const Subject& s) {
  const ParallelSpec& parallel = *s.scenario.parallel;
  if (s.scenario.train->accumulation == 1) return {};
  std::string lines = "last = micro_batch + 1 == ACCUMULATION\n";
  if (skips_reductions(s)) lines += "model.set_requires_gradient_sync(last)\n";
  if (!parallel.reshard_after_backward) lines += "model.set_reshard_after_backward(last)\n";
  if (!parallel.requires_all_reduce) lines += "model.set_requires_all_reduce(last)\n";
  return lines.find("model") == std::string::npos ? "" : lines;
}

std::string pass_lines(const Subject& s) {
  const std::string both = forward_lines(s) + backward_line(s);
  const Framework by = framework(s);
  if (by == Framework::fsdp2) return fsdp2_switches(s) + both;
  const bool can_skip = by == Framework::ddp || by == Framework::fsdp1;
  if (!can_skip || !skips_reductions(s)) return both;
  return "last = micro_batch + 1 == ACCUMULATION\n"
         "with contextlib.nullcontext() if last else model.no_sync():\n" +
         indented(both, 4);
}

std::string clip_lines(const Subject& s) {
  const TrainSpec& train = *s.scenario.train;
  std::string lines;
  if (train.clip_norm)
    lines += framework(s) == Framework::fsdp1
                 ? fmt::format("model.clip_grad_norm_({})\n", *train.clip_norm)
                 : fmt::format("torch.nn.utils.clip_grad_norm_(model.parameters(), {})\n", *train.clip_norm);
  if (train.clip_value)
    lines += fmt::format("torch.nn.utils.clip_grad_value_(model.parameters(), {})\n", *train.clip_value);
  return lines;
}

std::string update_lines(const Subject& s) {
  if (by_deepspeed(s)) return {};
  const std::string clip = clip_lines(s);
  if (!is_scaled(s)) return clip + "optimizer.step()\noptimizer.zero_grad()\n";
  return (clip.empty() ? "" : "scaler.unscale_(optimizer)\n" + clip) +
         "scaler.step(optimizer)\nscaler.update()\noptimizer.zero_grad()\n";
}

std::string scaler_line(const Subject& s) {
  if (!is_scaled(s)) return {};
  const ScalerSpec& scaler = *s.scenario.scaler;
  const bool sharded = framework(s) == Framework::fsdp1;
  return fmt::format(
      "\n\nscaler = {}init_scale={}, growth_factor={}, backoff_factor={}, growth_interval={})\n",
      sharded ? "ShardedGradScaler(device=DEVICE.type, " : "torch.amp.GradScaler(DEVICE.type, ",
      scaler.initial_scale, scaler.growth, scaler.backoff, growth_interval(s.scenario));
}

}  // namespace

std::string script_step(const ExportSubject& subject) {
  return scaler_line(subject) + filled(k_step, {{"RATE", rate_lines(subject)},
                                                {"PASS", indented(pass_lines(subject), 8)},
                                                {"UPDATE", indented(update_lines(subject), 4)}});
}

}  // namespace shardlab
