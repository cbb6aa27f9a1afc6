#include "simulator/memory/program_memory.h"

namespace shardlab {
namespace {

class Follower {
 public:
  Follower(const Program& program, std::span<const ValueIndex> keeps, TensorId loss, int workspaces,
           std::span<const Bytes> gradients)
      : program_(program), loss_(loss), workspaces_(workspaces), gradients_(gradients) {
    kept_.resize(program.values.size());
    for (const ValueIndex value : keeps) kept_[value] = true;
  }

  ProgramMemory follow() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const ProgramStep& step = program_.steps[i];
      if (!gradients_.empty()) add(gradients_[i], BufferClass::gradient);
      note_peak(step.temporaries_before, step.given_before);
      for (const ValueIndex value : step.allocates) add(value, 1);
      note_peak(step.workspace * workspaces_ + step.temporaries, step.given);
      for (const ValueIndex value : step.frees) add(value, -1);
    }
    return memory_;
  }

 private:
  // Extras that are given back already are activations, and the workspace is larger by them than what it
  // adds.
  void note_peak(Bytes workspace, Bytes given) {
    if (memory_.end + workspace <= memory_.peak) return;
    memory_.peak = memory_.end + workspace;
    memory_.at_peak = memory_.at_end;
    memory_.at_peak[static_cast<std::size_t>(BufferClass::workspace)] += workspace + given;
    memory_.at_peak[static_cast<std::size_t>(BufferClass::activation)] -= given;
  }

  BufferClass class_of(ValueIndex index) const {
    const ProgramValue& value = program_.values[index];
    switch (value.origin) {
      case ValueOrigin::tensor_buffer:
        return value.tensor == loss_ ? BufferClass::scalar : BufferClass::activation;
      case ValueOrigin::gradient_buffer: return BufferClass::activation_gradient;
      case ValueOrigin::saved: return BufferClass::activation;
      case ValueOrigin::internal: return kept_[index] ? BufferClass::activation : BufferClass::workspace;
    }
    return BufferClass::workspace;
  }

  void add(ValueIndex value, std::int64_t sign) { add(program_.values[value].bytes * sign, class_of(value)); }
  void add(Bytes bytes, BufferClass buffer_class) {
    memory_.end += bytes;
    memory_.at_end[static_cast<std::size_t>(buffer_class)] += bytes;
  }

  const Program& program_;
  TensorId loss_;
  int workspaces_;
  std::span<const Bytes> gradients_;
  std::vector<bool> kept_;
  ProgramMemory memory_;
};

}  // namespace

ProgramMemory follow_program(const Program& program, std::span<const ValueIndex> keeps, TensorId loss,
                             int workspaces, std::span<const Bytes> gradients) {
  return Follower(program, keeps, loss, workspaces, gradients).follow();
}

}  // namespace shardlab
