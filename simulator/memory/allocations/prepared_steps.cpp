#include "simulator/memory/allocations/prepared_steps.h"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace shardlab {
namespace {

class Numbers {
 public:
  std::vector<NumberedStorage> numbered(const std::vector<LastingStorage>& storages) {
    std::vector<NumberedStorage> result;
    result.reserve(storages.size());
    std::vector<std::uint32_t>* parts = nullptr;  // of the buffer that the last one was of
    for (const LastingStorage& each : storages) {
      if (each.part == 0) parts = &numbers_[each.buffer];
      if (each.part == parts->size()) parts->push_back(count_++);
      result.push_back({(*parts)[each.part], each.storage, each.bytes, each.stream});
    }
    return result;
  }

  std::uint32_t count() const { return count_; }

 private:
  std::unordered_map<std::string_view, std::vector<std::uint32_t>>
      numbers_;  // of a buffer's storages, by name
  std::uint32_t count_ = 0;
};

}  // namespace

Result<PreparedSteps> prepare_steps(const PlannedScenario& planned, const std::vector<RunStep>& steps,
                                    WhoseStorages whose, Bytes device) {
  PreparedSteps prepared;
  Numbers numbers;
  for (const RunStep& step : steps) {
    SHARDLAB_TRY(StepAllocations made, step_allocations(planned, step.plan, whose, device));
    PreparedStep& each = prepared.steps.emplace_back(PreparedStep{step, std::move(made), {}, {}});
    each.carried = numbers.numbered(each.made.carried);
    each.kept = numbers.numbered(each.made.kept);
  }
  prepared.lasting = numbers.count();
  return prepared;
}

}  // namespace shardlab
