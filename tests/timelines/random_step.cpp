#include "tests/timelines/random_step.h"

namespace shardlab::test {
namespace {

constexpr std::uint32_t k_instructions = 60;

std::uint32_t below(std::mt19937& random, std::size_t end) {
  return static_cast<std::uint32_t>(random() % end);
}

TimedInstruction random_instruction(std::mt19937& random, const TimelineOptions& options) {
  TimedInstruction instruction;
  instruction.occupation = static_cast<Occupation>(below(random, 5));
  instruction.stream = below(random, options.streams);
  instruction.group = below(random, options.groups);
  const bool works = instruction.occupation == Occupation::compute ||
                     instruction.occupation == Occupation::collective ||
                     instruction.occupation == Occupation::drive;
  instruction.duration = {works ? 4 * std::int64_t{below(random, 3)} : 0};
  instruction.launch = {std::int64_t{below(random, 2)}};
  instruction.issue = {instruction.launch.value + below(random, 2)};
  return instruction;
}

std::vector<ResourceUse> random_uses(std::mt19937& random, const TimelineOptions& options) {
  std::vector<ResourceUse> uses;
  for (std::uint32_t resource = 0; resource < options.resources; ++resource) {
    const std::uint32_t quarters = below(random, 5);
    if (quarters > 0) uses.push_back({resource, quarters * k_full_share / 4, resource == 0});
  }
  return uses;
}

}  // namespace

RandomStep random_step(std::mt19937& random, const TimelineOptions& options) {
  RandomStep step;
  for (std::uint32_t i = 0; i < k_instructions; ++i) {
    step.instructions.push_back(random_instruction(random, options));
    std::vector<InstructionId> waits;
    for (std::uint32_t wait = below(random, 3); i > 0 && wait > 0; --wait)
      waits.push_back(InstructionId{below(random, i)});
    step.waits.push_back(std::move(waits));
    step.uses.push_back(random_uses(random, options));
  }
  for (std::size_t i = 0; i < step.waits.size(); ++i) {
    step.instructions[i].waits = step.waits[i];
    step.instructions[i].uses = step.uses[i];
  }
  return step;
}

}  // namespace shardlab::test
