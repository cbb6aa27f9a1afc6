#include "engine/trace/out_of_memory.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shardlab {
namespace {

constexpr std::size_t k_named = 3;

std::vector<std::string> biggest_classes(const BytesByClass& by_class) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < by_class.size(); ++i) {
    if (by_class[i].value > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return by_class[a] > by_class[b]; });
  order.resize(std::min(order.size(), k_named));
  std::vector<std::string> named;
  for (const std::size_t i : order)
    named.push_back(fmt::format("{} {}", to_string(static_cast<BufferClass>(i)), to_string(by_class[i])));
  return named;
}

}  // namespace

std::string describe(const OutOfMemory& out) {
  std::string text = "out of memory: ";
  if (out.asked.value > 0) text += fmt::format("{} more with ", to_string(out.asked));
  text += fmt::format("{} in use", to_string(out.live));
  if (out.limit.value > 0) text += fmt::format(" of {}", to_string(out.limit));
  if (const auto biggest = biggest_classes(out.by_class); !biggest.empty())
    text += fmt::format("; most is {}", fmt::join(biggest, ", "));
  if (!out.allocator.empty()) text += "; the allocator says: " + out.allocator;
  return text;
}

}  // namespace shardlab
