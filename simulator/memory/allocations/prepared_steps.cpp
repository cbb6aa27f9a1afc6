#include "simulator/memory/allocations/prepared_steps.h"

#include <map>
#include <string>
#include <utility>

namespace shardlab {
namespace {

class Numbers {
 public:
  std::vector<NumberedStorage> numbered(const std::vector<LastingStorage>& storages) {
    std::vector<NumberedStorage> result;
    result.reserve(storages.size());
    for (const LastingStorage& each : storages) {
      const auto [found, added] =
          numbers_.try_emplace({each.buffer, each.part}, static_cast<std::uint32_t>(numbers_.size()));
      result.push_back({found->second, each.storage, each.bytes, each.stream});
    }
    return result;
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(numbers_.size()); }

 private:
  std::map<std::pair<std::string, std::size_t>, std::uint32_t> numbers_;
};

}  // namespace

Result<PreparedSteps> prepare_steps(const PlannedScenario& planned, const std::vector<RunStep>& steps,
                                    WhoseStorages whose) {
  PreparedSteps prepared;
  Numbers numbers;
  for (const RunStep& step : steps) {
    SHARDLAB_TRY(StepAllocations made, step_allocations(planned, step.plan, whose));
    PreparedStep& each = prepared.steps.emplace_back(PreparedStep{step, std::move(made), {}, {}});
    each.carried = numbers.numbered(each.made.carried);
    each.kept = numbers.numbered(each.made.kept);
  }
  prepared.lasting = numbers.count();
  return prepared;
}

}  // namespace shardlab
