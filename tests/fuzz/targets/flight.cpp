// A dump of torch's flight recorder, and where its rank stands.
#include "engine/doctor/flight/group_stands.h"
#include "engine/doctor/flight/planned_collective.h"
#include "engine/doctor/flight/read_flight_dump.h"
#include "engine/plan/text.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {
namespace {

StepPlan two_collectives() {
  const Result<StepPlan> plan =
      parse_plan("plan 1\nphase steady\nstrategy x\ngraph 0\nworld 2\nmicro_batches 1\n", "two.plan");
  promise(plan.has_value(), "the plan that calls are looked up in can be read");
  StepPlan made = *plan;
  made.groups.push_back({RankSet{}, 2});
  for (const InstructionKind kind : {InstructionKind::AllGather, InstructionKind::AllReduce}) {
    Instruction instruction;
    instruction.kind = kind;
    instruction.group = GroupId{0};
    instruction.bytes = kibibytes(4);
    made.instructions.push_back(instruction);
  }
  return made;
}

}  // namespace

Answer read_flight_bytes(std::string_view bytes) {
  (void)may_be_flight_dump(bytes);
  Result<FlightDump> dump = read_flight_dump(std::string(bytes), "dump_0");
  if (!dump) return answer_of(dump);
  // Another rank that has issued all but the last: the two stand at different places.
  FlightDump other = *dump;
  other.rank = 1;
  other.source = "dump_1";
  if (!other.entries.empty()) other.entries.pop_back();
  const std::vector<FlightDump> dumps = {*dump, other};  // stands point to them
  for (const GroupStand& stand : group_stands(dumps))
    for (const RankStand& rank : stand.there)
      if (rank.entry != nullptr) (void)words_of(*rank.entry);
  static const StepPlan plan = two_collectives();
  for (const FlightEntry& entry : dump->entries)
    (void)planned_collective(plan, *dump, entry.group, entry.sequence);
  return Answer::taken;
}

}  // namespace shardlab::fuzz
