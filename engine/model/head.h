// Which module is a model's head.
#pragma once

#include <string_view>

#include "engine/model/model_graph.h"

namespace shardlab {

// Makes logits, alone or as the layer below an adapter. All families here call it lm_head.
inline bool is_head(const Module& module) {
  constexpr std::string_view k_name = "lm_head";
  return module.path == k_name || module.path.starts_with("lm_head.");
}

}  // namespace shardlab
