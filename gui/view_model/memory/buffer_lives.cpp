#include "gui/view_model/memory/buffer_lives.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace shardlab::view {
std::vector<BufferLife> buffer_lives(const StepPlan& plan) {
  std::vector<std::optional<std::int64_t>> since(plan.buffers.size());
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].carried) since[i] = -1;
  }
  std::vector<BufferLife> lives;
  const auto end_life = [&](BufferId id, std::int64_t at) {
    if (since[id.index()]) lives.push_back({id, *since[id.index()], at});
    since[id.index()].reset();
  };
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    for (const BufferId id : plan.instructions[i].allocates) since[id.index()] = at;
    for (const BufferId id : plan.instructions[i].frees) end_life(id, at);
  }
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    end_life(make_id<BufferId>(i), static_cast<std::int64_t>(plan.instructions.size()));
  std::sort(lives.begin(), lives.end(), [](const BufferLife& a, const BufferLife& b) {
    return std::tie(a.begin, a.buffer) < std::tie(b.begin, b.buffer);
  });
  return lives;
}

}  // namespace shardlab::view
