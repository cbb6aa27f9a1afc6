// Figures that a training loop prints for a step: its loss, the norm of its gradients, memory in use.
#pragma once

#include <optional>
#include <string_view>

namespace shardlab {

// `'loss': 2.31`, `train_loss=2.31`, `lm loss: 2.31E+00`; not those of an evaluation, and no loss scale.
// Lines here and below are in lower case.
std::optional<double> loss_in(std::string_view lower_case_line);

// `'grad_norm': 1.2`, `grad norm: 1.2`, `gnorm 1.2`.
std::optional<double> gradient_norm_in(std::string_view lower_case_line);

struct MemoryFigure {
  std::string_view name;  // "memory"
  double value = 0;       // in bytes where the line has a unit, else as it is printed
};

// Memory of the device: `memory: 34.5GiB(43.6%)`, `ma 10.2 gb`, `max mem: 12034`, `memory_allocated=...`.
// Nothing for lines of the allocator and about memory that is free, in all, reserved, or the host's.
std::optional<MemoryFigure> memory_in(std::string_view lower_case_line);

}  // namespace shardlab
