// What must hold on every timeline: streams and groups run one thing at a time, nothing starts before its
// waits, all work is done and none twice, and no resource is given away twice.
#include <algorithm>
#include <filesystem>
#include <random>

#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/timelines/random_step.h"
#include "tests/timelines/timeline_file.h"

namespace shardlab::test {
namespace {

struct Ran {
  std::vector<Span> spans;
  std::vector<RunningPeriod> periods;
};

Ran ran(const TimelineOptions& options, const std::vector<TimedInstruction>& instructions) {
  Ran ran;
  auto spans = run_timeline(options, instructions, &ran.periods);
  REQUIRE_OK(spans);
  ran.spans = *std::move(spans);
  return ran;
}

bool works(const TimedInstruction& instruction) {
  return instruction.occupation == Occupation::compute || instruction.occupation == Occupation::collective ||
         instruction.occupation == Occupation::drive;
}

bool overlap(const Span& a, const Span& b) {
  return a.start < b.end && b.start < a.end;
}

void check_order(const std::vector<TimedInstruction>& instructions, const std::vector<Span>& spans) {
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    CHECK(spans[i].start >= spans[i].issue);
    if (works(instructions[i]))
      CHECK(spans[i].end.value >= spans[i].start.value + instructions[i].duration.value);
    for (const InstructionId wait : instructions[i].waits) {
      if (works(instructions[i])) CHECK(spans[i].start >= spans[wait.index()].end);
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (!works(instructions[i]) || !works(instructions[j])) continue;
      const bool communicate = instructions[i].occupation == Occupation::collective &&
                               instructions[j].occupation == Occupation::collective;
      if (instructions[i].stream == instructions[j].stream) CHECK_FALSE(overlap(spans[i], spans[j]));
      if (communicate && instructions[i].group == instructions[j].group)
        CHECK_FALSE(overlap(spans[i], spans[j]));
    }
  }
}

// Work done is work given, to the nanosecond in which it ended.
void check_work(const std::vector<TimedInstruction>& instructions, const Ran& ran) {
  __extension__ using Work = __int128;  // hours at the full rate are more than 64 bits hold
  std::vector<Work> done(instructions.size(), 0);
  std::vector<std::int64_t> last_rate(instructions.size(), Contention::full);
  for (const RunningPeriod& period : ran.periods) {
    CHECK(period.begin >= ran.spans[period.instruction].start);
    CHECK(period.end <= ran.spans[period.instruction].end);
    done[period.instruction] += Work{(period.end - period.begin).value} * period.rate;
    last_rate[period.instruction] = period.rate;
  }
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Work given = works(instructions[i]) ? Work{instructions[i].duration.value} * Contention::full : 0;
    const bool is_all = done[i] >= given && done[i] < given + last_rate[i];
    CHECK(is_all);
  }
}

std::int64_t share_of(const TimedInstruction& instruction, std::uint32_t resource) {
  for (const ResourceUse& use : instruction.uses) {
    if (use.resource == resource) return use.share;
  }
  return 0;
}

// At no moment more than there is, and altogether what the instructions had to move: the capacity's share of
// each, as long as each takes alone.
void check_resources(const TimelineOptions& options, const std::vector<TimedInstruction>& instructions,
                     const Ran& ran) {
  constexpr double full = static_cast<double>(k_full_share);
  for (std::uint32_t resource = 0; resource < options.resources; ++resource) {
    double moved = 0, given = 0, slack = 1;
    for (const TimedInstruction& instruction : instructions) {
      const double share = static_cast<double>(share_of(instruction, resource)) / full;
      if (works(instruction)) given += share * static_cast<double>(instruction.duration.value);
      slack += share;  // the nanosecond in which it ends
    }
    for (const RunningPeriod& period : ran.periods) {
      const double share = static_cast<double>(share_of(instructions[period.instruction], resource)) / full;
      moved += share * static_cast<double>(period.rate) / full *
               static_cast<double>((period.end - period.begin).value);
      double together = 0;
      for (const RunningPeriod& other : ran.periods) {
        if (other.begin <= period.begin && period.begin < other.end)
          together += static_cast<double>(share_of(instructions[other.instruction], resource)) / full *
                      static_cast<double>(other.rate) / full;
      }
      CHECK(together <= 1 + 1e-5);
    }
    CHECK(moved >= given - 1e-3);
    CHECK(moved <= given + slack);
  }
}

void check_all(const TimelineOptions& options, const std::vector<TimedInstruction>& instructions) {
  const Ran it = ran(options, instructions);
  check_order(instructions, it.spans);
  check_work(instructions, it);
  check_resources(options, instructions, it);
}

TEST_CASE("every timeline file conserves work, waits and resources") {
  for (const auto& entry : std::filesystem::directory_iterator(data_file("timelines"))) {
    for (const TimelineCase& timeline : read_timeline_file(entry.path())) {
      INFO(entry.path().filename().string() + ", case " + timeline.name);
      check_all(timeline.options, timeline.instructions);
    }
  }
}

TEST_CASE("steps at random conserve work, waits and resources") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    TimelineOptions options{HostBehaviour(random() % 2), 4, 4, 3, {}};
    if (random() % 2 == 0) options.contention = {contention_rate(0.5), contention_rate(0.25)};
    const RandomStep step = random_step(random, options);
    INFO("round " << round);
    check_all(options, step.instructions);
  }
}

}  // namespace
}  // namespace shardlab::test
