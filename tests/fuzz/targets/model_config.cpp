// A model's config.json, up to the graph that it describes.
#include "engine/model/model_config.h"
#include "engine/model/families/family.h"
#include "engine/model/graph_builder.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_model_config(std::string_view bytes) {
  const Result<ModelConfig> config = ModelConfig::parse(bytes, "config.json", {});
  if (!config) return answer_of(config);
  GraphOptions options;
  options.micro_batch = 2;
  options.sequence_length = 16;
  // A layer is built like its neighbours: many only take time.
  constexpr std::int64_t k_most_layers = 64;
  for (const char* const name : {"num_hidden_layers", "n_layer", "n_layers"}) {
    const Result<std::int64_t> layers = config->layers(name, 1);
    if (!layers || *layers > k_most_layers) return answer_of(layers);
  }
  return answer_of(build_model_graph(*config, options));
}

}  // namespace shardlab::fuzz
