// Follows the versions of parameters: a copy that lives into the next step was made of what the optimizer
// wrote, not of what was there before.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/plan/check_order.h"

namespace shardlab {
namespace {

bool holds_parameters(const Buffer& buffer) {
  return buffer.layout != BufferLayout::opaque && (buffer.buffer_class == BufferClass::parameter ||
                                                   buffer.buffer_class == BufferClass::parameter_shard ||
                                                   buffer.buffer_class == BufferClass::gathered_parameters ||
                                                   buffer.buffer_class == BufferClass::gather_buffer);
}

class CopiesCheck {
 public:
  explicit CopiesCheck(const StepPlan& plan) : plan_(plan), made_(plan.buffers.size()) {
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      if (!holds_parameters(plan.buffers[i])) continue;
      made_[i].resize(plan.buffers[i].parameters.size(), 0);
      for (const ParameterId id : plan.buffers[i].parameters)
        updates_.resize(std::max(updates_.size(), id.index() + 1), 0);
    }
    read_.resize(updates_.size());
  }

  Status check() {
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[i];
      if (instruction.kind == InstructionKind::OptimizerStep) {
        update(instruction);
      } else if (instruction.kind == InstructionKind::Copy || instruction.kind == InstructionKind::Cast ||
                 instruction.kind == InstructionKind::Pack || instruction.kind == InstructionKind::Unpack ||
                 instruction.kind == InstructionKind::Quantize || is_collective(instruction.kind)) {
        copy(instruction, static_cast<int>(i) + 1);
      }
    }
    return check_end();
  }

 private:
  // Every version is the number of updates before it.
  void update(const Instruction& instruction) {
    for (const BufferId id : instruction.writes) {
      const std::vector<ParameterId>& parameters = plan_.buffer(id).parameters;
      for (std::size_t i = 0; i < made_[id.index()].size(); ++i)
        made_[id.index()][i] = ++updates_[parameters[i].index()];
    }
  }

  void copy(const Instruction& instruction, int number) {
    for (const BufferId id : instruction.reads) {
      const std::vector<ParameterId>& parameters = plan_.buffer(id).parameters;
      for (std::size_t i = 0; i < made_[id.index()].size(); ++i)
        read_[parameters[i].index()] = {number, made_[id.index()][i]};
    }
    for (const BufferId id : instruction.writes) {
      const std::vector<ParameterId>& parameters = plan_.buffer(id).parameters;
      for (std::size_t i = 0; i < made_[id.index()].size(); ++i) {
        const auto& [by, version] = read_[parameters[i].index()];
        if (by == number) made_[id.index()][i] = version;
      }
    }
  }

  Status check_end() const {
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
      const Buffer& buffer = plan_.buffers[b];
      if (!buffer.kept) continue;
      for (std::size_t i = 0; i < made_[b].size(); ++i) {
        if (made_[b][i] == updates_[buffer.parameters[i].index()]) continue;
        return internal_error(
            fmt::format("plan {}, end", to_string(plan_.phase)),
            fmt::format("{} lives on with parameters as they were before the optimizer's step", buffer.name));
      }
    }
    return {};
  }

  const StepPlan& plan_;
  std::vector<std::vector<int>> made_;     // by buffer, by its parameters: the version that lies there
  std::vector<int> updates_;               // by ParameterId
  std::vector<std::pair<int, int>> read_;  // by ParameterId: the last instruction that read it, which version
};

}  // namespace

Status check_copies(const StepPlan& plan) {
  return CopiesCheck(plan).check();
}

}  // namespace shardlab
