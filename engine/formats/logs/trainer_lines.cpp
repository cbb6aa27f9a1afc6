#include "engine/formats/logs/trainer_lines.h"

#include <cmath>

#include "engine/formats/logs/line_numbers.h"
#include "engine/formats/logs/logged_pairs.h"

namespace shardlab {
namespace {

std::optional<std::int64_t> count_of(double value) {
  if (!(value >= 0) || value > 0x1p53) return std::nullopt;
  return std::llround(value);
}

void add_bytes(double value, std::optional<Bytes>& sum) {
  if (std::abs(value) < 0x1p60) sum = sum.value_or(Bytes{}) + Bytes{std::llround(value)};
}

bool says_nothing(const LineFigures& figures) {
  return !figures.loss && !figures.runtime && !figures.clock && !figures.gradient_norm;
}

}  // namespace

void add_trainer_figure(std::string_view name, double value, LineFigures& figures) {
  if (name == "loss") figures.loss = value;
  if (name == "grad_norm") figures.gradient_norm = value;
  if (name == "step") figures.step = count_of(value);
  if (name == "train_runtime") figures.runtime = seconds(value);
  if (name == "train_samples_per_second") figures.samples_per_second = value;
  if (name == "train_steps_per_second") figures.steps_per_second = value;
  if (name == "train_tokens_per_second") figures.tokens_per_second = value;
  // What is in use before, and what three stages add to it: their sum is the peak.
  if (name == "before_init_mem_gpu" || name == "init_mem_gpu_alloc_delta" ||
      name == "train_mem_gpu_alloc_delta" || name == "train_mem_gpu_peaked_delta")
    add_bytes(value, figures.peak_allocated);
}

std::optional<LineFigures> trainer_figures(std::string_view line) {
  LineFigures figures{.kind = LineKind::trainer_figures};
  if (const std::size_t at = line.find("{'"); at != std::string_view::npos) {
    visit_logged_pairs(line.substr(at), [&](std::string_view name, double value) {
      add_trainer_figure(name, value, figures);
    });
    if (says_nothing(figures)) return std::nullopt;
    // In a line of a loss these are the seconds so far, else those of the whole training.
    if (figures.loss) figures.clock = std::exchange(figures.runtime, std::nullopt);
    return figures;
  }
  constexpr std::string_view k_batch = "Total train batch size (w. parallel, distributed & accumulation) =";
  if (line.find(k_batch) == std::string_view::npos) return std::nullopt;
  figures.kind = LineKind::other;
  figures.samples_per_step = count_after(line, k_batch);
  return figures;
}

}  // namespace shardlab
