// Buffers without memory of their own: each lies inside its pool, and no two that are alive lie upon each
// other. So no staging slot is in use twice.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "engine/plan/check_order.h"

namespace shardlab {
namespace {

class PoolsCheck {
 public:
  explicit PoolsCheck(const StepPlan& plan) : plan_(plan) {
    for (const Buffer& buffer : plan.buffers) live_.push_back(buffer.carried);
  }

  Status check() {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      SHARDLAB_CHECK_OK(check_place(plan_.buffers[i], make_id<BufferId>(i)));
      if (plan_.buffers[i].within && plan_.buffers[i].carried) inside_.push_back(make_id<BufferId>(i));
    }
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[i];
      for (const BufferId id : instruction.allocates) {
        live_[id.index()] = true;
        if (plan_.buffer(id).within) SHARDLAB_CHECK_OK(take(make_id<InstructionId>(i), id));
      }
      for (const BufferId id : instruction.frees) {
        live_[id.index()] = false;
        std::erase(inside_, id);
        if (const BufferId* left = inside_of(id))
          return defect(
              make_id<InstructionId>(i),
              fmt::format("frees {} while {} lies in it", plan_.buffer(id).name, plan_.buffer(*left).name));
      }
    }
    return {};
  }

 private:
  Status check_place(const Buffer& buffer, BufferId id) const {
    if (!buffer.within) return {};
    const std::string where = fmt::format("plan {}, buffer {}", to_string(plan_.phase), buffer.name);
    if (buffer.within->pool >= id) return internal_error(where, "its pool is not declared before it");
    const Buffer& pool = plan_.buffer(buffer.within->pool);
    if (pool.within || pool.dtype != buffer.dtype || pool.space != buffer.space)
      return internal_error(where,
                            fmt::format("{} cannot be its pool: it lies within another, or has another "
                                        "dtype or memory space",
                                        pool.name));
    const std::int64_t first = buffer.within->first;
    if (first < 0 || first > pool.elements || buffer.elements > pool.elements - first)
      return internal_error(where, fmt::format("its elements from {} on are not all inside {}, which has {}",
                                               first, pool.name, pool.elements));
    return {};
  }

  Status take(InstructionId at, BufferId id) {
    const Buffer& buffer = plan_.buffer(id);
    const std::string& pool = plan_.buffer(buffer.within->pool).name;
    if (!live_[buffer.within->pool.index()])
      return defect(at, fmt::format("{} is put into {}, which is not alive", buffer.name, pool));
    for (const BufferId other : inside_) {
      if (overlap(buffer, plan_.buffer(other)))
        return defect(at, fmt::format("{} is put where {} still lies in {}", buffer.name,
                                      plan_.buffer(other).name, pool));
    }
    inside_.push_back(id);
    return {};
  }

  tl::unexpected<Error> defect(InstructionId at, std::string what) const {
    return internal_error(
        fmt::format("plan {}, instruction {}", to_string(plan_.phase), instruction_label(plan_, at)),
        std::move(what));
  }

  const BufferId* inside_of(BufferId pool) const {
    const auto found = std::find_if(inside_.begin(), inside_.end(),
                                    [&](BufferId id) { return plan_.buffer(id).within->pool == pool; });
    return found == inside_.end() ? nullptr : &*found;
  }

  static bool overlap(const Buffer& a, const Buffer& b) {
    return a.within->pool == b.within->pool && a.within->first < b.within->first + b.elements &&
           b.within->first < a.within->first + a.elements;
  }

  const StepPlan& plan_;
  std::vector<bool> live_;        // by BufferId
  std::vector<BufferId> inside_;  // buffers without memory of their own that are alive
};

}  // namespace

Status check_pools(const StepPlan& plan) {
  return PoolsCheck(plan).check();
}

}  // namespace shardlab
