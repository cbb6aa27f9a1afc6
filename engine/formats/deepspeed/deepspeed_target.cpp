#include "engine/formats/deepspeed/deepspeed_target.h"

#include <cmath>

#include <fmt/format.h>

#include "engine/formats/accelerate/accelerate_program_rules.h"
#include "engine/formats/tools/program_rules.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

using Instead = std::optional<std::string>;
using Subject = ExportSubject;

bool scales(const Subject& s) {
  return compute_dtype(s) == DType::float16;
}

// The file gives the exponent of a power of two.
Instead initial_scale(const Subject& s) {
  const double scale = s.scenario.scaler->initial_scale;
  const double sayable = std::exp2(std::round(std::log2(scale)));
  return scales(s) && sayable != scale ? Instead(fmt::format("{}", sayable)) : std::nullopt;
}

Instead growth(const Subject& s) {
  return scales(s) && s.scenario.scaler->growth != 2 ? Instead("2") : std::nullopt;
}

Instead backoff(const Subject& s) {
  return scales(s) && s.scenario.scaler->backoff != 0.5 ? Instead("0.5") : std::nullopt;
}

Instead save_line(const Subject& s) {
  const std::string& path = s.scenario.checkpoint->path;
  return path.empty() ? Instead() : Instead(fmt::format("engine.save_checkpoint(\"{}\")", path));
}

Instead resume_line(const Subject& s) {
  const std::string& from = s.scenario.checkpoint->resume;
  return from.empty() ? Instead() : Instead(fmt::format("engine.load_checkpoint(\"{}\")", from));
}

constexpr SettingRule k_rules[] = {
    // What a scenario under ZeRO cannot say: its own checks refuse it.
    {"parallel", k_lost, nullptr, {}},
    {"precision", k_lost, nullptr, {}},
    {"train.sync", k_lost, nullptr, {}},
    {"scaler.enabled", k_lost, nullptr, {}},
    // DeepSpeed has one form of checkpoint.
    {"checkpoint.type", k_elsewhere, nullptr, {}},
    {"checkpoint.offload_to_cpu", k_elsewhere, nullptr, {}},
    {"checkpoint.rank0_only", k_elsewhere, nullptr, {}},
    {"scaler.initial_scale", k_lost, initial_scale, "a power of two"},
    {"scaler.growth", k_lost, growth, "DeepSpeed doubles"},
    {"scaler.backoff", k_lost, backoff, "DeepSpeed halves"},
    {"checkpoint.path", k_elsewhere, save_line, "the program makes it"},
    {"checkpoint.resume", k_elsewhere, resume_line, "the program makes it"},
};

TargetRefusal refuses(const ExportSubject& subject) {
  if (framework(subject) == Framework::deepspeed) return {};
  return {"DeepSpeed runs ZeRO, not this strategy"};
}

std::vector<ExportedFile> write(const ExportSubject& subject, std::span<const std::string>) {
  return {deepspeed_file(subject)};
}

}  // namespace

ExportTarget deepspeed_target() {
  return {"deepspeed",
          "0.19",
          "the configuration of deepspeed.initialize",
          refuses,
          {{deepspeed_keys(), nullptr}},
          {k_rules, replicated_program_rules(), program_rules(), launched_rules(), unspoken_rules()},
          write};
}

}  // namespace shardlab
