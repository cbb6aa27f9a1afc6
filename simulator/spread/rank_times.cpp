#include "simulator/spread/rank_times.h"

#include <algorithm>
#include <cmath>

#include "simulator/spread/draw.h"

namespace shardlab {
namespace {

enum Purpose : std::uint64_t { of_device, of_host, of_kernel, of_collective };

double factor(double deviation, const DrawKey& key) {
  if (deviation == 0) return 1;
  return std::clamp(1 + deviation * draw_normal(key), 0.5, 1.5);
}

Nanoseconds scaled(Nanoseconds time, double by) {
  return {saturated_round(static_cast<double>(time.value) * by)};
}

class RankTimes {
 public:
  RankTimes(std::span<const GroupMeetings> meetings, const Spread& spread, std::uint64_t rank,
            std::int64_t step)
      : meetings_(meetings), spread_(spread), rank_(rank), step_(static_cast<std::uint64_t>(step)) {
    const auto given = spread.speeds.find(static_cast<int>(rank));
    const double speed = given == spread.speeds.end() ? 1 : given->second;
    device_ = 1 / (factor(spread.gpus, {spread.seed, of_device, rank}) * speed);
    host_ = factor(spread.hosts, {spread.seed, of_host, rank});
  }

  InstructionTimes of(const TimedInstruction& instruction, std::uint64_t item) const {
    return {scaled(instruction.duration, by(instruction, item)), scaled(instruction.launch, host_),
            scaled(instruction.issue, host_)};
  }

 private:
  double by(const TimedInstruction& instruction, std::uint64_t item) const {
    const std::uint64_t number = (step_ << 32U) | item;
    if (instruction.occupation == Occupation::compute)
      return device_ * factor(spread_.kernels, {spread_.seed, of_kernel, rank_, number});
    if (instruction.occupation != Occupation::collective) return 1;
    const GroupMeetings& group = meetings_[instruction.group];
    const auto first = static_cast<std::uint64_t>(group.members[group.of_rank[rank_]].front());
    return factor(spread_.collectives, {spread_.seed, of_collective, first, number});
  }

  std::span<const GroupMeetings> meetings_;
  const Spread& spread_;
  std::uint64_t rank_, step_;
  double device_, host_;  // what they take, in times of what they should
};

}  // namespace

std::vector<std::vector<InstructionTimes>> rank_times(std::span<const TimedInstruction> instructions,
                                                      std::span<const GroupMeetings> meetings,
                                                      const Spread& spread, int ranks, std::int64_t step) {
  std::vector<std::vector<InstructionTimes>> times(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    const RankTimes own(meetings, spread, rank, step);
    times[rank].reserve(instructions.size());
    for (std::size_t item = 0; item < instructions.size(); ++item)
      times[rank].push_back(own.of(instructions[item], item));
  }
  return times;
}

}  // namespace shardlab
