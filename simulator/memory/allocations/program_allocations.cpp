#include "simulator/memory/allocations/program_allocations.h"

#include <algorithm>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "simulator/memory/allocations/temporary_blocks.h"

namespace shardlab {
namespace {

constexpr StorageIndex k_nothing = std::numeric_limits<StorageIndex>::max();

class ProgramWalk {
 public:
  ProgramWalk(const ProgramRun& run, AllocationList& list)
      : graph_(run.graph),
        plan_(run.plan),
        instruction_(plan_.instruction(run.instruction)),
        id_(run.instruction),
        run_(run.run),
        program_(run_.program),
        gradients_(run.gradients),
        added_(run.added),
        list_(list),
        storages_(program_.values.size(), k_nothing),
        buffers_(program_.values.size()) {}

  Status follow() {
    SHARDLAB_CHECK_OK(enter());
    for (std::size_t i = 0; i < program_.steps.size(); ++i) follow_step(i);
    leave();
    return {};
  }

 private:
  // Among the buffers that the instruction names.
  template <typename Predicate>
  const BufferId* find(Predicate matches) const {
    for (const auto* list : {&instruction_.writes, &instruction_.reads, &instruction_.frees}) {
      for (const BufferId& id : *list) {
        if (matches(plan_.buffer(id))) return &id;
      }
    }
    return nullptr;
  }

  const BufferId* find_bundle() const {
    return find([&](const Buffer& buffer) { return buffer.saved_by == instruction_.segment; });
  }

  Status enter() {
    const BufferId* bundle = find_bundle();
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      const ProgramValue& value = program_.values[i];
      if (value.origin == ValueOrigin::internal) continue;
      if (value.origin == ValueOrigin::saved) {
        if (bundle == nullptr || list_.held(*bundle).size() <= value.saved)
          return defect("nothing was kept for it");
        storages_[i] = list_.held(*bundle)[value.saved];
        continue;
      }
      const bool gradient = value.origin == ValueOrigin::gradient_buffer;
      const BufferId* found = find([&](const Buffer& buffer) {
        return buffer.tensor == value.tensor &&
               (buffer.buffer_class == BufferClass::activation_gradient) == gradient;
      });
      if (found == nullptr) return defect(fmt::format("tensor {} has no buffer", value.tensor.value));
      buffers_[i] = *found;
      if (!list_.held(*found).empty()) storages_[i] = list_.held(*found).front();
    }
    return {};
  }

  tl::unexpected<Error> defect(const std::string& what) const {
    return internal_error(instruction_label(plan_, id_), what);
  }

  void pass(Bytes bytes) {
    if (bytes > Bytes{}) list_.give(list_.take(bytes, instruction_.stream));
  }

  void follow_step(std::size_t index) {
    const ProgramStep& step = program_.steps[index];
    if (!gradients_.empty()) take_gradients(gradients_[index]);
    const std::vector<StorageIndex> added = take_added(index);
    if (step.kind == StepKind::backward) note_product(step);
    if (step.blocks_begin == step.blocks_end)
      follow_one_block(step);
    else
      follow_blocks(
          step, std::span(program_.blocks).subspan(step.blocks_begin, step.blocks_end - step.blocks_begin));
    if (step.kind == StepKind::forward) note_product(step);
    for (const ValueIndex value : step.frees) give(value);
    for (const StorageIndex gradient : added) list_.give(gradient);
  }

  std::vector<StorageIndex> take_added(std::size_t index) {
    std::vector<StorageIndex> taken;
    if (added_.empty()) return taken;
    for (const GradientPart& part : added_[index]) {
      if (part.bytes > Bytes{}) taken.push_back(list_.take(part.bytes, list_.streams().of(part.buffer)));
    }
    return taken;
  }

  void note_product(const ProgramStep& step) {
    if (graph_.op(step.op).type->category == OperatorCategory::product)
      list_.note_product(instruction_.kind != InstructionKind::Forward);
  }

  void take_results(const ProgramStep& step) {
    for (const ValueIndex value : step.allocates) take(value);
  }

  void follow_one_block(const ProgramStep& step) {
    pass(step.temporaries_before);
    take_results(step);
    pass(step.temporaries);
  }

  // Results are taken first, or where a block of no bytes stands for them, but for those that have a block
  // each.
  void follow_blocks(const ProgramStep& step, std::span<const Bytes> blocks) {
    if (std::find(blocks.begin(), blocks.end(), Bytes{}) == blocks.end()) take_other_results(step, blocks);
    TemporaryBlocks temporaries(list_, instruction_.stream);
    for (const Bytes block : blocks) {
      if (block == Bytes{})
        take_other_results(step, blocks);
      else if (is_result_block(block))
        take_result(step, result_of(block));
      else if (block == k_freed_here)
        give_early(step);
      else if (is_given_extra_block(block))
        give(step.extras[given_extra_of(block)]);
      else
        temporaries.change(block);
    }
    temporaries.give_all();
  }

  void take_other_results(const ProgramStep& step, std::span<const Bytes> blocks) {
    for (std::size_t i = 0; i < step.allocates.size(); ++i) {
      if (std::find(blocks.begin(), blocks.end(), result_block(i)) == blocks.end()) take(step.allocates[i]);
    }
  }

  // A forward that keeps nothing may have fewer.
  void take_result(const ProgramStep& step, std::size_t index) {
    if (index < step.allocates.size()) take(step.allocates[index]);
  }

  // Gives back what forward kept, or what it reads, and this step frees. At the step's end nothing of it is
  // left to give.
  void give_early(const ProgramStep& step) {
    for (const ValueIndex value : step.frees) {
      const bool read = std::find(step.operands.begin(), step.operands.end(), value) != step.operands.end();
      if (step.kind == StepKind::forward ? read : program_.values[value].origin == ValueOrigin::saved)
        give(value);
    }
  }

  void take(ValueIndex index) {
    const ProgramValue& value = program_.values[index];
    if (value.bytes == Bytes{}) return;
    storages_[index] = list_.take(value.bytes, instruction_.stream);
    if (buffers_[index]) list_.held(*buffers_[index]) = {storages_[index]};
  }

  void take_gradients(const std::vector<GradientPart>& parts) {
    for (const GradientPart& part : parts) {
      if (part.bytes == Bytes{}) continue;
      list_.held(part.buffer).push_back(list_.take(part.bytes, list_.streams().of(part.buffer)));
    }
  }

  void give(ValueIndex index) {
    if (storages_[index] == k_nothing) return;
    list_.give(storages_[index]);
    storages_[index] = k_nothing;
    if (buffers_[index]) list_.held(*buffers_[index]).clear();
  }

  void leave() {
    const BufferId* bundle = find_bundle();
    if (bundle == nullptr) return;
    std::vector<StorageIndex>& held = list_.held(*bundle);
    held.clear();
    if (!run_.keeps) return;
    for (const ValueIndex value : run_.kept) held.push_back(storages_[value]);
  }

  const ModelGraph& graph_;
  const StepPlan& plan_;
  const Instruction& instruction_;
  InstructionId id_;
  const SegmentRun run_;
  const Program& program_;
  const std::vector<std::vector<GradientPart>>& gradients_;
  const std::vector<std::vector<GradientPart>>& added_;
  AllocationList& list_;
  std::vector<StorageIndex> storages_;            // by value; none where it does not exist
  std::vector<std::optional<BufferId>> buffers_;  // by value
};

}  // namespace

Status follow_allocations(const ProgramRun& run, AllocationList& list) {
  return ProgramWalk(run, list).follow();
}

}  // namespace shardlab
