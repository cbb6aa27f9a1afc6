#include <string>

#include "engine/base/nearest.h"
#include "engine/model/families/family.h"

namespace shardlab {

const std::vector<Family>& families() {
  static const std::vector<Family> list = {{"llama", build_llama}};
  return list;
}

Result<ModelGraph> build_model_graph(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(const std::string type, config.text_or("model_type", ""));
  std::vector<std::string> known;
  for (const Family& family : families()) {
    known.emplace_back(family.model_type);
    if (family.model_type != type) continue;
    SHARDLAB_TRY(ModelGraph graph, family.build(config, options));
    SHARDLAB_CHECK_OK(config.check_overrides_were_read());
    return graph;
  }
  if (type.empty()) return bad_input(config.file(), "model_type: missing", suggestion("", known));
  return bad_input(config.file(), "model_type: unknown family '" + type + "'", suggestion(type, known));
}

}  // namespace shardlab
