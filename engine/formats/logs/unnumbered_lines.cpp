#include "engine/formats/logs/unnumbered_lines.h"

namespace shardlab {

void UnnumberedLines::take(const LineFigures& figures) {
  if (is_waiting_) is_numbered_ = false;
  lines_.push_back({0, figures.loss, figures.gradient_norm, figures.clock});
  is_waiting_ = true;
}

void UnnumberedLines::number(std::int64_t step) {
  if (!is_waiting_) return;
  lines_.back().step = step;
  is_waiting_ = false;
  if (step < 1) is_numbered_ = false;
}

std::vector<LineFigures> UnnumberedLines::finish() const {
  const bool numbered = is_numbered_ && (lines_.size() > 1 || !is_waiting_);
  std::vector<LineFigures> all;
  for (const Line& line : lines_) {
    if (numbered && line.step == 0) break;
    LineFigures figures{.kind = LineKind::trainer_figures};
    if (numbered) figures.step = line.step;
    figures.loss = line.loss;
    figures.gradient_norm = line.gradient_norm;
    figures.clock = line.clock;
    all.push_back(figures);
  }
  return all;
}

}  // namespace shardlab
