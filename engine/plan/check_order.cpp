#include "engine/plan/check_order.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "engine/plan/transfers.h"

namespace shardlab {
namespace {

// For every instruction, how much of every stream is surely done before it: a vector clock per instruction,
// flat.
class HappensBefore {
 public:
  explicit HappensBefore(const StepPlan& plan)
      : streams_(plan.streams.size()), position_(plan.instructions.size()) {
    clocks_.resize(plan.instructions.size() * streams_, 0);
    std::vector<std::optional<std::size_t>> last(streams_);
    std::vector<std::uint32_t> count(streams_, 0);
    // A collective starts after the earlier ones of its group, whatever their streams.
    std::vector<std::optional<std::size_t>> last_of_group(plan.groups.size());
    // What a processor does holds the host: all that is issued later comes after it.
    std::optional<std::size_t> last_on_host;
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
      const Instruction& instruction = plan.instructions[i];
      const std::size_t stream = instruction.stream.index();
      if (last[stream]) include(i, *last[stream]);
      for (const InstructionId wait : instruction.waits) include(i, wait.index());
      if (is_collective(instruction.kind)) {
        auto& previous = last_of_group[instruction.group->index()];
        if (previous) include(i, *previous);
        previous = i;
      }
      if (last_on_host) include(i, *last_on_host);
      if (runs_on_host(plan, instruction)) last_on_host = i;
      position_[i] = ++count[stream];
      clocks_[i * streams_ + stream] = position_[i];
      last[stream] = i;
    }
  }

  // `before` is done when `after` starts. Both are indices of instructions on the streams given.
  bool ordered(std::size_t before, std::size_t stream_of_before, std::size_t after) const {
    return clocks_[after * streams_ + stream_of_before] >= position_[before];
  }

 private:
  void include(std::size_t at, std::size_t earlier) {
    for (std::size_t s = 0; s < streams_; ++s) {
      clocks_[at * streams_ + s] = std::max(clocks_[at * streams_ + s], clocks_[earlier * streams_ + s]);
    }
  }

  std::size_t streams_;
  std::vector<std::uint32_t> position_;  // within its stream, from 1
  std::vector<std::uint32_t> clocks_;
};

class OrderCheck {
 public:
  explicit OrderCheck(const StepPlan& plan)
      : plan_(plan), before_(plan), uses_(plan.buffers.size()), freed_(plan.streams.size()) {}

  Status check() {
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[i];
      if (!instruction.allocates.empty()) SHARDLAB_CHECK_OK(check_reuse(i, instruction));
      for (const BufferId id : instruction.reads) SHARDLAB_CHECK_OK(check_read(i, id));
      for (const BufferId id : instruction.writes) SHARDLAB_CHECK_OK(check_write(i, id));
      for (const BufferId id : instruction.frees) note_free(id, instruction.recorded);
    }
    return {};
  }

 private:
  struct Uses {
    std::optional<std::uint32_t> writer;
    std::vector<std::uint32_t> readers;  // since the last write, the latest of each stream
  };

  tl::unexpected<Error> defect(std::size_t at, const std::string& what, std::uint32_t other) const {
    return internal_error(
        fmt::format("plan {}, instruction {}", to_string(plan_.phase),
                    instruction_label(plan_, make_id<InstructionId>(at))),
        fmt::format("{} {}: a wait is missing", what, instruction_label(plan_, InstructionId{other})));
  }
  bool ordered(std::uint32_t earlier, std::size_t at) const {
    return earlier == at || before_.ordered(earlier, plan_.instructions[earlier].stream.index(), at);
  }

  Status check_read(std::size_t at, BufferId id) {
    Uses& uses = uses_[id.index()];
    if (uses.writer && !ordered(*uses.writer, at)) {
      return defect(at, "reads " + plan_.buffer(id).name + " without waiting for", *uses.writer);
    }
    const StreamId stream = plan_.instructions[at].stream;
    for (std::uint32_t& reader : uses.readers) {
      if (plan_.instructions[reader].stream == stream) {
        reader = static_cast<std::uint32_t>(at);
        return {};
      }
    }
    uses.readers.push_back(static_cast<std::uint32_t>(at));
    return {};
  }

  Status check_write(std::size_t at, BufferId id) {
    Uses& uses = uses_[id.index()];
    if (uses.writer && !ordered(*uses.writer, at)) {
      return defect(at, "writes " + plan_.buffer(id).name + " without waiting for", *uses.writer);
    }
    for (const std::uint32_t reader : uses.readers) {
      if (!ordered(reader, at))
        return defect(at, "writes " + plan_.buffer(id).name + " without waiting for its reader", reader);
    }
    uses.writer = static_cast<std::uint32_t>(at);
    uses.readers.clear();
    return {};
  }

  // The allocator hands freed memory to the next allocation on the stream that owned it: all users must be
  // done by then, unless the allocator itself waits for them.
  void note_free(BufferId id, bool recorded) {
    Uses& uses = uses_[id.index()];
    std::vector<std::pair<BufferId, std::uint32_t>>& pending = freed_[plan_.buffer(id).stream.index()];
    if (recorded) {
      uses = {};
      return;
    }
    if (uses.writer) pending.emplace_back(id, *uses.writer);
    for (const std::uint32_t reader : uses.readers) pending.emplace_back(id, reader);
    uses = {};
  }

  Status check_reuse(std::size_t at, const Instruction& instruction) {
    const StreamId stream = plan_.buffer(instruction.allocates.front()).stream;
    auto& pending = freed_[stream.index()];
    for (const auto& [id, user] : pending) {
      if (!ordered(user, at)) {
        return defect(
            at, "may be given the memory of " + plan_.buffer(id).name + " while it is still used by", user);
      }
    }
    pending.clear();
    return {};
  }

  const StepPlan& plan_;
  HappensBefore before_;
  std::vector<Uses> uses_;
  std::vector<std::vector<std::pair<BufferId, std::uint32_t>>> freed_;  // by stream: buffer and last users
};

}  // namespace

Status check_device_order(const StepPlan& plan) {
  return OrderCheck(plan).check();
}

}  // namespace shardlab
