// Resident bytes and order of steps, event by event, against those recorded from real PyTorch on a model
// small enough to follow by hand.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/catch.h"
#include "tests/plans/golden_model.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

bool is_engine_memory(const Buffer& buffer) {
  switch (buffer.buffer_class) {
    case BufferClass::activation:
    case BufferClass::activation_gradient:
    case BufferClass::batch:
    case BufferClass::scalar: return false;
    default: return true;
  }
}

// How much is surely done: passes of units, gathers, reduce-scatters, all-reduces.
using Clock = std::array<int, 4>;

Clock join(Clock a, const Clock& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
  return a;
}

std::string name_of(UnitId unit) {
  return unit == Partition::root() ? "root" : fmt::format("u{}", unit.value - 1);
}

// The plan in the words of the data file. Sums of allocations or frees that the plan makes at once appear as
// one line.
class Events {
 public:
  explicit Events(const StepPlan& plan)
      : plan_(plan), streams_(plan.streams.size()), resident_(carried_bytes(plan).value) {}

  std::vector<std::string> write() {
    for (const Instruction& instruction : plan_.instructions) put(instruction);
    return std::move(lines_);
  }

 private:
  void put(const Instruction& instruction) {
    const bool runs_unit =
        instruction.segment.has_value();  // takes memory while it runs; others before they are issued
    if (runs_unit) follow(instruction);
    change(instruction.allocates, 1);
    if (!runs_unit) follow(instruction);
    if (instruction.kind == InstructionKind::OptimizerStep) lines_.emplace_back("optimizer");
    if (instruction.kind == InstructionKind::ZeroGradients) lines_.emplace_back("zero_grad");
    change(instruction.frees, -1);
  }

  void change(const std::vector<BufferId>& buffers, int sign) {
    const std::int64_t before = resident_;
    for (const BufferId id : buffers)
      resident_ += is_engine_memory(plan_.buffer(id)) ? sign * plan_.buffer(id).bytes().value : 0;
    if (resident_ != before) lines_.push_back(fmt::format("resident {}", resident_));
  }

  void follow(const Instruction& instruction) {
    Clock waited{};
    for (const InstructionId wait : instruction.waits) waited = join(waited, clocks_[wait.index()]);
    if (instruction.kind == InstructionKind::HostWait) {
      const std::string freed = instruction.taken_event
                                    ? plan_.taken_events[*instruction.taken_event]
                                    : name_of(*plan_.instruction(instruction.waits[0]).unit);
      lines_.push_back("host_wait " + freed.substr(0, freed.find('.')));
      host_ = join(host_, waited);
      clocks_.push_back(host_);
      return;
    }
    Clock& stream = streams_[instruction.stream.index()];
    stream = join(stream, waited);
    const Clock known = join(stream, host_);
    note(instruction, known, stream);
    clocks_.push_back(stream);
  }

  void note(const Instruction& instruction, const Clock& known, Clock& stream) {
    const auto begins = [&](const std::string& what, std::size_t dimension) {
      lines_.push_back(fmt::format("{} after {}", what, fmt::join(known, " ")));
      stream = known;
      stream[dimension] = ++done_[dimension];
    };
    const auto pass = [&](const char* direction) {
      if (instruction.unit != Partition::root())
        begins(fmt::format("{} {}", direction, name_of(*instruction.unit)), 0);
    };
    const auto collective = [&](std::size_t dimension) {
      begins(fmt::format("{} {}", to_string(instruction.kind), instruction.bytes.value), dimension);
    };
    switch (instruction.kind) {
      case InstructionKind::Forward: pass("forward"); break;
      case InstructionKind::Backward: pass("backward"); break;
      case InstructionKind::AllGather: collective(1); break;
      case InstructionKind::ReduceScatter: collective(2); break;
      case InstructionKind::AllReduce: collective(3); break;
      default: break;
    }
  }

  const StepPlan& plan_;
  std::vector<Clock> streams_;
  std::vector<Clock> clocks_;  // after each instruction
  Clock host_{}, done_{};
  std::int64_t resident_;
  std::vector<std::string> lines_;
};

// A run of recorded `resident` lines going one way (per-parameter allocations, one tensor freed after the
// other) is one event of the plan: only its last value stays.
std::vector<std::string> merged(const std::vector<std::string>& lines, long long before_run) {
  const auto value = [](const std::string& line) { return std::stoll(line.substr(9)); };
  std::vector<std::string> result;
  for (const std::string& line : lines) {
    const bool resident = line.rfind("resident ", 0) == 0;
    const bool continues = resident && !result.empty() && result.back().rfind("resident ", 0) == 0 &&
                           (value(line) > value(result.back())) == (value(result.back()) > before_run);
    if (continues) {
      result.back() = line;
      continue;
    }
    if (!result.empty() && result.back().rfind("resident ", 0) == 0) before_run = value(result.back());
    result.push_back(line);
  }
  return result;
}

}  // namespace

TEST_CASE("resident bytes and order equal the recorded ones event by event") {
  const ModelGraph graph = golden_model();
  for (const PlanCase& golden : read_cases("golden_bytes")) {
    DYNAMIC_SECTION(golden.name) {
      std::vector<std::string> overrides = golden.overrides;
      overrides.emplace_back("cluster.ranks=4");
      const StepPlan plan = golden_plan(graph, small_llama(overrides));

      // `stop` ends the comparison of events: the file says why.
      std::vector<std::string> expected;
      for (const std::string& line : golden.lines) {
        if (line == "stop") break;
        if (line.rfind("peak", 0) != 0 && line.rfind("at_rest", 0) != 0 &&
            line.rfind("optimizer_peak", 0) != 0)
          expected.push_back(line);
      }
      const std::vector<std::string> found = Events(plan).write();
      const long long at_rest = carried_bytes(plan).value;
      const std::vector<std::string> wanted = merged(expected, at_rest);
      std::vector<std::string> compared = merged(found, at_rest);
      const bool whole = std::find(golden.lines.begin(), golden.lines.end(), "stop") == golden.lines.end();
      if (!whole && compared.size() > wanted.size()) compared.resize(wanted.size());
      CHECK(wanted.size() > 20);
      CHECK(fmt::format("{}", fmt::join(compared, "\n")) == fmt::format("{}", fmt::join(wanted, "\n")));

      std::int64_t peak = 0;
      for (const std::string& line : found) {
        if (line.rfind("resident ", 0) == 0) peak = std::max<std::int64_t>(peak, std::stoll(line.substr(9)));
      }
      CHECK(std::to_string(peak) == value_of(golden, "peak"));
      CHECK(std::to_string(at_rest) == value_of(golden, "at_rest"));
    }
  }
}

// torch.optim on a CPU goes from parameter to parameter.
TEST_CASE("the optimizer's temporaries equal the recorded ones") {
  const ModelGraph graph = golden_model();
  for (const PlanCase& golden : read_cases("golden_bytes")) {
    INFO(golden.name);
    std::vector<std::string> overrides = golden.overrides;
    overrides.insert(overrides.end(), {"cluster.ranks=4", "train.optimizer_implementation=loop"});
    const StepPlan plan = golden_plan(graph, small_llama(overrides));
    REQUIRE(check_plan(plan));
    const std::vector<std::string> lines = Events(plan).write();
    const auto optimizer = std::find(lines.begin(), lines.end(), "optimizer");
    REQUIRE(optimizer > lines.begin());
    CHECK(*(optimizer - 1) == "resident " + value_of(golden, "optimizer_peak"));
  }
}

}  // namespace shardlab::test
