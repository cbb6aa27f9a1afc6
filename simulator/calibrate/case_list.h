// Probe cases being put together, each once. Private to this folder.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/execute/probe.h"

namespace shardlab {

class CaseList {
 public:
  void add(std::string_view operation, DType dtype, ProbeShape shape) {
    std::string name(operation);
    name += '.';
    add({name += to_string(dtype), std::move(shape)});
  }
  void add(ProbeCase probe) {
    if (known_.insert(probe).second) list_.push_back(std::move(probe));
  }
  void linear(DType dtype, std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
    add("linear", dtype, {{"rows", rows}, {"inputs", inputs}, {"outputs", outputs}});
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
  cases.linear(dtype, rows, width, width);
  cases.linear(dtype, rows, width, key_width);
  cases.linear(dtype, rows, width, feed_forward(width));
  cases.linear(dtype, rows, feed_forward(width), width);
}

}  // namespace shardlab
