#include "engine/strategies/zero3/parameter_numbers.h"

#include <fmt/format.h>

namespace shardlab {

std::string parameter_numbers(const std::vector<ParameterId>& parameters) {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::size_t end = i;
    while (end + 1 < parameters.size() && parameters[end + 1].value == parameters[end].value + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ".", parameters[i].value);
    if (end > i) text += fmt::format("_{}", parameters[end].value);
    i = end;
  }
  return text;
}

}  // namespace shardlab
