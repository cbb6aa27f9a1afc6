// Probe cases being put together, each once. Private to this folder.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/execute/probe.h"
#include "engine/model/operators/operator_type.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {

// Which operators of a group: those of most models, the others, or both.
enum class Commonness : std::uint8_t { common, other, all };

class CaseList {
 public:
  void add(ProbeCase probe) {
    if (known_.insert(probe).second) list_.push_back(std::move(probe));
  }
  void add(const OperatorType& type, DType dtype, ProbeShape shape) {
    std::string name(type.name);
    name += '.';
    add({name += to_string(dtype), std::move(shape)});
  }
  // Every operator of the group at that size.
  void add(ProbeGroup group, Commonness which, DType dtype, const ProbeSize& size) {
    for (const OperatorType* type : operator_types()) {
      const ProbeRecipe* recipe = type->probe;
      if (recipe == nullptr || recipe->group != group || recipe->at == nullptr) continue;
      if (which != Commonness::all && type->common != (which == Commonness::common)) continue;
      add(*type, dtype, recipe->at(size));
    }
  }
  void product(DType dtype, std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
    add(ProbeGroup::product, Commonness::common, dtype,
        {.sequence = rows, .width = inputs, .inner_width = outputs});
  }
  std::vector<ProbeCase> take() { return std::move(list_); }

 private:
  std::vector<ProbeCase> list_;
  std::set<ProbeCase> known_;
};

// A llama-shaped model is `width` wide, its feed-forward 8/3 of that, rounded up to 16.
inline std::int64_t feed_forward(std::int64_t width) {
  return (width * 8 / 3 + 15) / 16 * 16;
}

// A layer's products; keys and values are `key_width` wide.
inline void add_products(CaseList& cases, DType dtype, std::int64_t rows, std::int64_t width,
                         std::int64_t key_width) {
  cases.product(dtype, rows, width, width);
  cases.product(dtype, rows, width, key_width);
  cases.product(dtype, rows, width, feed_forward(width));
  cases.product(dtype, rows, feed_forward(width), width);
}

// What a layer of that width does to `rows` tokens besides its products; a key-value head for four of the
// queries.
inline ProbeSize layer_size(std::int64_t rows, std::int64_t width, std::int64_t head_dim) {
  const std::int64_t heads = width / head_dim;
  return {.sequence = rows,
          .width = width,
          .inner_width = feed_forward(width),
          .heads = heads,
          .kv_heads = heads / 4,
          .head_dim = head_dim};
}

}  // namespace shardlab
