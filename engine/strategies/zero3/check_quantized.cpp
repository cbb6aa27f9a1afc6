#include "engine/strategies/zero3/check_quantized.h"

#include <fmt/format.h>

#include "engine/scenario/mesh.h"
#include "engine/scenario/zero_options.h"
#include "engine/strategies/zero3/quantized_blocks.h"

namespace shardlab {

Status check_quantized_weights(const Scenario& scenario, const ModelGraph& graph) {
  const std::int64_t ranks = resolve_mesh(scenario).shard;
  if (!zero_options(scenario).quantized_weights || ranks == 1) return {};
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.elements() % (k_weights_at_once * ranks) == 0) continue;
    return bad_input(
        "parallel.zero",
        fmt::format("zero_quantized_weights: DeepSpeed quantises {} elements at once, and the {} of "
                    "{} are no multiple of that on each of {} ranks",
                    k_weights_at_once, parameter.elements(), parameter.name, ranks),
        "take a number of ranks that divides them, or zero_quantized_weights: false");
  }
  return {};
}

}  // namespace shardlab
