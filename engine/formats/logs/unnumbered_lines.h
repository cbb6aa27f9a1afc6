// Lines of the Trainer, which say no step, numbered by the progress bars below them. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/formats/logs/line_figures.h"

namespace shardlab {

// The Trainer draws its bar anew below each of its lines. Where a line has none below it, what was written to
// two files was put together in another order: then no bar numbers any.
class UnnumberedLines {
 public:
  void take(const LineFigures& figures);
  // The next bar.
  void number(std::int64_t step);

  // All lines in their order. Where bars did not number them they have no step; the last one of a log that
  // breaks off is left out rather than all the others unnumbered.
  std::vector<LineFigures> finish() const;

 private:
  struct Line {         // small: there may be a million
    std::int64_t step;  // 0: not known
    std::optional<double> loss, gradient_norm;
    std::optional<Nanoseconds> clock;
  };

  std::vector<Line> lines_;
  bool is_waiting_ = false;  // the last line, for its bar
  bool is_numbered_ = true;
};

}  // namespace shardlab
