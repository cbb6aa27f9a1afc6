#include "engine/formats/logs/deepspeed_lines.h"

#include <cmath>

#include "engine/base/text/log_numbers.h"
#include "engine/formats/logs/line_numbers.h"

namespace shardlab {
namespace {

constexpr auto k_nowhere = std::string_view::npos;

// `time (ms) | fwd: 12.10 | bwd: 20.20 | bwd_inner: 20.10 | bwd_allreduce: 0.00 | step: 3.30`, until 2023
// `forward` and `backward`. Those of one micro-batch, and of the optimizer's parts, are no whole step.
std::optional<LineFigures> of_times(std::string_view text) {
  double sum = 0;
  for (const auto& [now, before] : {std::pair{"| fwd:", "| forward:"}, std::pair{"| bwd:", "| backward:"},
                                    std::pair{"| step:", "| step:"}}) {
    auto part = number_after(text, now);
    if (!part) part = number_after(text, before);
    if (!part) return std::nullopt;
    sum += *part;
  }
  LineFigures figures{.kind = LineKind::deepspeed_times};
  figures.time = seconds(sum / 1000);
  return figures.time ? std::optional(figures) : std::nullopt;
}

// `epoch=0/micro_step=16/global_step=16, RunningAvgSamplesPerSec=7.91, CurrSamplesPerSec=7.71,
// MemAllocated=59.65GB, MaxMemAllocated=63.31GB`; until 2022 `0/40, SamplesPerSec=83.48, MemAllocated=...`,
// which is an average.
LineFigures of_speed(std::string_view text) {
  LineFigures figures{.kind = LineKind::deepspeed_speed};
  figures.step = count_after(text, "global_step=");
  if (const auto now = number_after(text, "CurrSamplesPerSec="); now && std::isfinite(*now) && *now > 0)
    figures.samples_per_second = now;
  figures.peak_allocated = size_after(text, "MaxMemAllocated=");
  return figures;
}

// `MA 19.3 GB         Max_MA 20.86 GB         CA 21.69 GB         Max_CA 22 GB`. Every such line begins the
// peak of allocated memory anew. What is reserved now may be more than its own rounded peak.
LineFigures of_memory(std::string_view text) {
  LineFigures figures;
  figures.peak_allocated = size_after(text, "Max_MA");
  const auto most = size_after(text, "Max_CA"), now = size_after(text, " CA");
  figures.peak_reserved = most && now ? std::max(most, now) : most;
  figures.is_whole_gibibytes = most && (!now || *most > *now);
  return figures;
}

// `[config.py:957:print]   world_size ................... 8`
std::optional<LineFigures> of_configuration(std::string_view text) {
  LineFigures figures;
  const std::size_t dots = text.find(" ..");
  if (dots == k_nowhere) return std::nullopt;
  const std::string_view name = text.substr(0, dots);
  const std::size_t value = text.find_first_not_of(" .", dots);
  if (value == k_nowhere) return std::nullopt;
  const auto number = count_after(text.substr(value), "");
  if (!number || *number < 1) return std::nullopt;
  if (name.ends_with("  world_size") && *number <= 1 << 20) figures.ranks = static_cast<int>(*number);
  if (name.ends_with("  train_batch_size")) figures.samples_per_step = number;
  if (!figures.ranks && !figures.samples_per_step) return std::nullopt;
  return figures;
}

}  // namespace

std::optional<LineFigures> deepspeed_figures(std::string_view line) {
  constexpr std::string_view k_times = "time (ms) |", k_skipped = ", skipped=";
  if (const std::size_t at = line.find(k_times); at != k_nowhere) return of_times(line.substr(at));
  if (line.find("SamplesPerSec=") != k_nowhere) return of_speed(line);
  if (line.find("Max_MA ") != k_nowhere) return of_memory(line);
  if (line.find("CPU Virtual Memory:") != k_nowhere) {
    LineFigures figures;
    figures.host_memory = size_after(line, "used =");
    return figures;
  }
  if (line.find(k_skipped) != k_nowhere && line.find("step=") != k_nowhere) {
    LineFigures figures{.kind = LineKind::deepspeed_step};
    figures.step = count_after(line, "step=");
    figures.skipped = count_after(line, k_skipped);
    figures.clock = clock_in(line);
    return figures.step ? std::optional(figures) : std::nullopt;
  }
  return of_configuration(line);
}

}  // namespace shardlab
