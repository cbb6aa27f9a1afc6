// Dumps of flight recorders: texts made up as NCCL's recorder writes them, one mistake each.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/doctor/examine.h"
#include "engine/doctor/flight/group_stands.h"
#include "engine/doctor/flight/planned_collective.h"
#include "engine/doctor/flight/read_flight_dump.h"
#include "engine/doctor/registry.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using Kind = GroupStand::Kind;

std::string entry(int sequence, const std::string& operation, int size = 8,
                  const std::string& state = "completed",
                  const std::string& group = R"(["0","default_pg"])") {
  return fmt::format(
      R"({{"collective_seq_id":{},"profiling_name":"nccl:{}","input_sizes":[[{}]],"input_dtypes":["Float"],)"
      R"("output_sizes":[[{}]],"process_group":{},"is_p2p":false,"state":"{}","retired":{},)"
      R"("frames":[{{"name":"all_reduce","filename":"/env/torch/distributed/distributed_c10d.py","line":3}},)"
      R"({{"name":"step","filename":"/home/a/train.py","line":{}}}]}})",
      sequence, operation, size, size, group, state, state == "completed", 100 + sequence);
}

FlightDump dump(int rank, const std::vector<std::string>& entries, const std::string& ranks = "[0, 1, 2]") {
  const std::string text = fmt::format(
      R"({{"version":"2.10","pg_config":{{"0":{{"ranks":"{}"}},"1":{{"ranks":"[0, 1]"}}}},"entries":[{}]}})",
      ranks, fmt::join(entries, ","));
  CHECK(may_be_flight_dump(text));
  auto read = read_flight_dump(text, fmt::format("/tmp/nccl_trace_rank_{}", rank));
  REQUIRE(read);
  return *std::move(read);
}

std::vector<int> ranks_of(const std::vector<RankStand>& stands) {
  std::vector<int> ranks;
  for (const RankStand& stand : stands) ranks.push_back(stand.dump->rank);
  return ranks;
}

std::string error_of(std::string bytes, const std::string& file = "trace_0") {
  const auto read = read_flight_dump(std::move(bytes), file);
  return read ? "" : message_text(read.error());
}

TEST_CASE("a dump says who issued what, where, and how far it came") {
  const FlightDump read = dump(7, {entry(3, "_all_gather_base", 8, "started")});
  CHECK(read.rank == 7);
  REQUIRE(read.entries.size() == 1);
  const FlightEntry& one = read.entries.front();
  CHECK(one.group == "0 default_pg");
  CHECK(one.operation == "_all_gather_base");
  CHECK(one.called_from == "train.py:103 (step)");
  CHECK(one.is_started);
  CHECK_FALSE(one.is_done);
  CHECK(words_of(one) == "_all_gather_base of [8] Float");
  CHECK(read.groups.at("0 default_pg") == std::vector<int>{0, 1, 2});
}

TEST_CASE("nobody waits where all is done, also where recorders kept other parts") {
  CHECK(group_stands({dump(0, {entry(1, "a"), entry(2, "b")}), dump(1, {entry(1, "a"), entry(2, "b")})})
            .empty());
  CHECK(group_stands({dump(0, {entry(1, "a"), entry(2, "b")}), dump(1, {entry(2, "b")})}).empty());
  CHECK(group_stands({dump(0, {}), dump(1, {})}).empty());
  CHECK(group_stands({}).empty());
}

TEST_CASE("a rank that did not call what the others wait in") {
  const std::vector<FlightDump> dumps = {dump(0, {entry(1, "a"), entry(2, "b", 8, "started")}),
                                         dump(1, {entry(1, "a")}),
                                         dump(2, {entry(1, "a"), entry(2, "b", 8, "started")})};
  const auto stands = group_stands(dumps);
  REQUIRE(stands.size() == 1);
  CHECK(stands[0].kind == Kind::not_called);
  CHECK(stands[0].sequence == 2);
  CHECK(ranks_of(stands[0].elsewhere) == std::vector<int>{1});
  CHECK(ranks_of(stands[0].there) == std::vector<int>{0, 2});
  CHECK(stands[0].elsewhere[0].entry->sequence == 1);
}

TEST_CASE("a rank that is behind while nobody waits was dumped earlier") {
  CHECK(group_stands({dump(0, {entry(1, "a"), entry(2, "b")}), dump(1, {entry(1, "a")})}).empty());
}

TEST_CASE("a wait counts from two seconds on, and against who was dumped after it began") {
  const auto at = [](FlightDump dump, Nanoseconds created, Nanoseconds written) {
    for (FlightEntry& each : dump.entries) each.created = created;
    dump.written = written;
    return dump;
  };
  const FlightDump waits = dump(0, {entry(1, "a"), entry(2, "b", 8, "started")}, "[0, 1]");
  const FlightDump too = dump(1, {entry(1, "a"), entry(2, "b", 8, "started")}, "[0, 1]");
  const FlightDump behind = dump(1, {entry(1, "a")}, "[0, 1]");
  const Nanoseconds start = milliseconds(50'000);
  const auto stands = [&](const FlightDump& other, Nanoseconds written, Nanoseconds of_other) {
    return group_stands({at(waits, start, written), at(other, start, of_other)}).size();
  };
  const Nanoseconds soon = start + milliseconds(1900), late = start + milliseconds(2100);
  CHECK(stands(too, soon, soon) == 0);
  CHECK(stands(too, soon, late) == 1);
  CHECK(stands(behind, late, late) == 1);
  CHECK(stands(behind, soon, late) == 0);
  CHECK(stands(behind, late, start - milliseconds(1)) == 0);
  CHECK(stands(too, start - milliseconds(1), start - milliseconds(1)) == 1);  // the file is of another clock
}

TEST_CASE("the few that call something else are named, before what they wait in") {
  const std::vector<FlightDump> dumps = {
      dump(0, {entry(1, "a"), entry(2, "b"), entry(3, "c", 8, "scheduled")}),
      dump(1, {entry(1, "a"), entry(2, "b"), entry(3, "c", 8, "scheduled")}),
      dump(2, {entry(1, "a"), entry(2, "x")})};
  const auto stands = group_stands(dumps);
  REQUIRE(stands.size() == 1);
  CHECK(stands[0].kind == Kind::other_operation);
  CHECK(stands[0].sequence == 2);
  CHECK(ranks_of(stands[0].elsewhere) == std::vector<int>{2});
}

TEST_CASE("other sizes are a mistake but where a call allows them") {
  const auto kinds = [](const std::string& operation) {
    return group_stands({dump(0, {entry(1, operation, 8)}), dump(1, {entry(1, operation, 9)})}).size();
  };
  CHECK(kinds("all_reduce") == 1);
  CHECK(kinds("_all_gather_base") == 1);
  CHECK(kinds("_reduce_scatter_base") == 1);
  CHECK(kinds("all_to_all") == 0);
  CHECK(kinds("ALLTOALL_BASE") == 0);
  CHECK(kinds("gather") == 0);
  CHECK(kinds("scatter") == 0);
}

TEST_CASE("all stand in one collective, and who left no dump is told") {
  const auto stands =
      group_stands({dump(0, {entry(5, "a", 8, "started")}), dump(1, {entry(5, "a", 8, "scheduled")})});
  REQUIRE(stands.size() == 1);
  CHECK(stands[0].kind == Kind::not_done);
  CHECK(stands[0].without_dump == std::vector<int>{2});
}

TEST_CASE("groups are looked at apart, and those that wait for another one come after it") {
  const std::string inner = R"(["1","mesh_tp"])";
  const std::vector<FlightDump> dumps = {
      dump(0, {entry(1, "a", 8, "started"), entry(1, "t", 8, "scheduled", inner)}, "[0, 1]"),
      dump(1, {entry(1, "t", 8, "scheduled", inner)}, "[0, 1]")};
  Case known;
  known.source = "dumps";
  known.flight = &dumps;
  const Examination found = examine(known, all_rules());
  REQUIRE_FALSE(found.findings.empty());
  // The second rank has nothing of the default group: its recorder names only groups that it issued in.
  CHECK(group_stands(dumps).size() == 2);
}

TEST_CASE("sizes that make no number are those of no instruction") {
  std::string endless =
      "[9000000000000000000";  // the product of twenty is beyond all numbers, and times zero it is none
  for (int i = 0; i < 20; ++i) endless += ",9000000000000000000";
  const auto read = read_flight_dump(
      fmt::format(
          R"({{"entries": [{{"process_group": ["0", ""], "collective_seq_id": 1, "profiling_name": "all_reduce",)"
          R"( "input_dtypes": ["Float"], "input_sizes": [{0},0]]}}]}})",
          endless),
      "trace_1.json");
  REQUIRE(read);
  REQUIRE(read->entries.size() == 1);
  const FlightEntry& one = read->entries.front();
  CHECK_FALSE(planned_collective(StepPlan(), *read, one.group, one.sequence));
}

TEST_CASE("what is no dump is refused with the reason") {
  CHECK(error_of("{}") == "trace_0: is no dump of a flight recorder: it has no entries");
  CHECK(error_of(R"({"entries": [)") == "trace_0: is damaged: its JSON does not end as it should");
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CHECK(error_of(R"({"entries": [{}], "pg_config": {"": {"ranks": )" + deep + "}}}") ==
        "trace_0: is no dump of a flight recorder: it is nested too deeply");
  CHECK(error_of(R"({"entries": []})", "trace") ==
        "trace: does not say whose it is: the name of a dump ends with its rank");
  CHECK(error_of("\x80\x02]q.").find("trace_0: the pickle") == 0);
  CHECK(error_of(std::string("\x80\x02"
                             "cos\nsystem\n.",
                             14))
            .find("would run code") != std::string::npos);
  CHECK(error_of("").find("trace_0") == 0);
  CHECK_FALSE(may_be_flight_dump("a log"));
  CHECK_FALSE(may_be_flight_dump(R"({"architectures": ["LlamaForCausalLM"]})"));
}

TEST_CASE("values of other types read as nothing") {
  const auto read = read_flight_dump(
      R"({"entries": [1, null, {"process_group": 3, "input_sizes": [4], "frames": {}, "state": 1},
          {"process_group": [], "collective_seq_id": "12", "input_dtypes": [1]}], "pg_config": []})",
      "trace_1.json");
  REQUIRE(read);
  CHECK(read->entries.size() == 4);
  CHECK(read->entries.back().sequence == 12);
  CHECK(group_stands({*read}).size() <= 1);
}

}  // namespace
}  // namespace shardlab
