// Figures of a training loop that cannot be: a loss that is no number, a loss scale of nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shardlab {

// The loss or norm of gradients that a line says to be NaN or infinite, by its name: `'loss': nan`,
// `total_loss=inf`, `loss tensor(nan`, `grad norm: nan`. An infinite best or least value so far is a
// beginning, not a result. The line is in lower case.
std::optional<std::string> non_finite_figure(std::string_view lower_case_line);

// Whether the line of a step says that the loss scale has fallen to nothing: `grad scale: 0`, `reducing loss
// scale to 2.9e-39`. 0 in a configuration means a dynamic one.
bool tells_of_no_scale(std::string_view lower_case_line);

}  // namespace shardlab
