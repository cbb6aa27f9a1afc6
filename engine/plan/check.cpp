#include "engine/plan/check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/plan/check_order.h"

namespace shardlab {
namespace {

// Liveness on the host's clock.
class LivenessCheck {
 public:
  explicit LivenessCheck(const StepPlan& plan)
      : plan_(plan), live_(plan.buffers.size(), false), written_(plan.buffers.size(), false) {
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) live_[i] = written_[i] = plan.buffers[i].carried;
  }

  Status check_all() {
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      at_ = make_id<InstructionId>(i);
      SHARDLAB_CHECK_OK(check_instruction(plan_.instructions[i]));
    }
    return check_end();
  }

 private:
  tl::unexpected<Error> defect(std::string what) const {
    return internal_error(
        fmt::format("plan {}, instruction {}", to_string(plan_.phase), instruction_label(plan_, at_)),
        std::move(what));
  }
  const std::string& name(BufferId id) const { return plan_.buffer(id).name; }

  Status check_instruction(const Instruction& instruction) {
    SHARDLAB_CHECK_OK(check_operands(instruction));
    for (const BufferId id : instruction.allocates) {
      if (live_[id.index()]) return defect("allocates " + name(id) + ", which is alive");
      live_[id.index()] = true;
      written_[id.index()] = false;
    }
    for (const BufferId id : instruction.reads) {
      if (!live_[id.index()]) return defect("reads " + name(id) + ", which is not alive");
      if (!written_[id.index()]) return defect("reads " + name(id) + ", which nothing has written");
    }
    for (const BufferId id : instruction.writes) {
      if (!live_[id.index()]) return defect("writes " + name(id) + ", which is not alive");
      written_[id.index()] = true;
    }
    for (const BufferId id : instruction.frees) {
      if (!live_[id.index()]) return defect("frees " + name(id) + ", which is not alive");
      live_[id.index()] = false;
    }
    return {};
  }

  bool reads_flag(const Instruction& instruction) const {
    return std::any_of(instruction.reads.begin(), instruction.reads.end(),
                       [&](BufferId id) { return plan_.buffer(id).role == BufferRole::found_inf; });
  }

  Status check_operands(const Instruction& instruction) const {
    for (const auto* list :
         {&instruction.reads, &instruction.writes, &instruction.allocates, &instruction.frees}) {
      for (const BufferId id : *list) {
        if (id.index() >= plan_.buffers.size()) return defect("names a buffer that the plan does not have");
      }
    }
    for (const InstructionId wait : instruction.waits) {
      if (wait >= at_)
        return defect(fmt::format("waits for instruction {}, which is not earlier", wait.value));
    }
    if (instruction.taken_event && *instruction.taken_event >= plan_.taken_events.size()) {
      return defect("waits for an event that the plan does not take over");
    }
    if (instruction.guard != Guard::none && !reads_flag(instruction))
      return defect("is guarded and does not read the flag");
    if (instruction.stream.index() >= plan_.streams.size())
      return defect("names a stream that the plan does not have");
    if (is_collective(instruction.kind) && !instruction.group)
      return defect("is a collective without a group");
    if (instruction.group && instruction.group->index() >= plan_.groups.size()) {
      return defect("names a group that the plan does not have");
    }
    return {};
  }

  Status check_end() const {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer& buffer = plan_.buffers[i];
      const std::string where = fmt::format("plan {}, end", to_string(plan_.phase));
      if (live_[i] && !buffer.kept)
        return internal_error(where, buffer.name + " is alive but does not live on: a Free is missing");
      if (!live_[i] && buffer.kept)
        return internal_error(where, buffer.name + " should live on but was freed");
    }
    return {};
  }

  const StepPlan& plan_;
  InstructionId at_;
  std::vector<bool> live_;
  std::vector<bool> written_;
};

std::vector<std::string_view> names_where(const StepPlan& plan, bool Buffer::*flag) {
  std::vector<std::string_view> names;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.*flag) names.push_back(buffer.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status check_events_follow(const StepPlan& before, const StepPlan& after) {
  const bool same =
      std::equal(before.left_events.begin(), before.left_events.end(), after.taken_events.begin(),
                 after.taken_events.end(),
                 [](const LeftEvent& left, const std::string& taken) { return left.name == taken; });
  if (same) return {};
  return internal_error(fmt::format("plan {} after {}", to_string(after.phase), to_string(before.phase)),
                        "the events left by one are not those taken over by the other");
}

Status check_follows(const StepPlan& before, const StepPlan& after) {
  const auto left = names_where(before, &Buffer::kept);
  const auto taken = names_where(after, &Buffer::carried);
  if (left == taken) return check_events_follow(before, after);
  std::vector<std::string_view> difference;
  std::set_symmetric_difference(left.begin(), left.end(), taken.begin(), taken.end(),
                                std::back_inserter(difference));
  return internal_error(fmt::format("plan {} after {}", to_string(after.phase), to_string(before.phase)),
                        fmt::format("{} is left by one and not taken over by the other", difference.front()));
}

// The text form, and with it every stored run, knows buffers by their names.
Status check_names(const StepPlan& plan) {
  std::unordered_set<std::string_view> names;
  names.reserve(plan.buffers.size());
  for (const Buffer& buffer : plan.buffers) {
    if (!names.insert(buffer.name).second)
      return internal_error(fmt::format("plan {}", to_string(plan.phase)),
                            fmt::format("two buffers are called {}", buffer.name));
  }
  return {};
}

}  // namespace

Status check_plan(const StepPlan& plan) {
  SHARDLAB_CHECK_OK(check_names(plan));
  SHARDLAB_CHECK_OK(LivenessCheck(plan).check_all());
  SHARDLAB_CHECK_OK(check_device_order(plan));
  SHARDLAB_CHECK_OK(check_recomputations(plan));
  SHARDLAB_CHECK_OK(check_pools(plan));
  SHARDLAB_CHECK_OK(check_spaces(plan));
  SHARDLAB_CHECK_OK(check_copies(plan));
  return check_reductions(plan);
}

Status check_run(const RunPlan& run) {
  const std::vector<const StepPlan*> steps = run.all();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SHARDLAB_CHECK_OK(check_plan(*steps[i]));
    if (i > 0) SHARDLAB_CHECK_OK(check_follows(*steps[i - 1], *steps[i]));
  }
  return check_follows(run.steady, run.steady);
}

}  // namespace shardlab
