// Recordings whose statistics are known: vectors worked out by hand, and histories that torch wrote with the
// statistics it had at their end (over the stand-in for CUDA of tests/peers/caching_allocator).
#include "simulator/memory/replay/replay.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

#include "engine/base/json_depth.h"
#include "simulator/memory/replay/block_origin.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using nlohmann::json;

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// By torch's flat names: allocated_bytes.all.peak, num_ooms.
std::map<std::string, std::int64_t> flat(const AllocatorStatistics& statistics) {
  std::map<std::string, std::int64_t> all;
  const auto stat = [&](const std::string& name, const AllocatorStat& s) {
    all[name + ".current"] = s.current, all[name + ".peak"] = s.peak;
    all[name + ".allocated"] = s.allocated, all[name + ".freed"] = s.freed;
  };
  for_each_pool_stat(statistics, [&](const std::string& name, const PoolStats& s) {
    stat(name + ".all", s.all), stat(name + ".small_pool", s.small_pool),
        stat(name + ".large_pool", s.large_pool);
  });
  for_each_oversize_stat(statistics, stat);
  for_each_count(statistics, [&](const std::string& name, std::int64_t count) { all[name] = count; });
  return all;
}

ReplayOutcome replayed(const std::string& text, const ReplaySettings& settings = {}) {
  const auto recording = read_recording(text);
  REQUIRE_OK(recording);
  const auto outcome = replay(*recording, settings);
  REQUIRE_OK(outcome);
  return *outcome;
}

// A file of a terabyte without blocks behind it, but for how it begins.
std::string of_a_file_that_begins(const std::string& beginning) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "recording";
  std::ofstream(file, std::ios::binary) << beginning;
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);
  const auto recording = read_recording_file(file);
  return recording ? "" : recording.error().what;
}

std::string refusal(const std::string& text) {
  const auto recording = read_recording(text);
  REQUIRE(!recording);
  return to_string(recording.error());
}

std::string with_ops(const std::string& ops) {
  return "{\"ops\": [" + ops + "]}";
}

}  // namespace

TEST_CASE("vectors worked out by hand") {
  int vectors = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::data_file("allocator"))) {
    if (entry.path().extension() != ".json" || entry.path().stem().extension() == ".statistics") continue;
    INFO(entry.path().filename().string());
    ++vectors;
    const std::string text = content(entry.path());
    const auto figures = flat(replayed(text).statistics);
    const json statistics = json::parse(text)["statistics"];
    for (const auto& [name, expected] : statistics.items()) {
      INFO(name);
      if (!expected.is_object()) CHECK(figures.at(name) == expected.get<std::int64_t>());
      if (expected.is_object())
        for (const auto& [what, value] : expected.items())
          CHECK(figures.at(name + ".all." + what) == value.get<std::int64_t>());
    }
  }
  CHECK(vectors == 13);
}

TEST_CASE("a history replayed as it was recorded gives torch's own statistics") {
  for (const std::string name : {"history_default", "history_expandable", "history_max_split"}) {
    INFO(name);
    const ReplayOutcome outcome = replayed(content(test::data_file("allocator/" + name + ".pickle")));
    const auto figures = flat(outcome.statistics);
    const json statistics = json::parse(content(test::data_file("allocator/" + name + ".statistics.json")));
    int compared = 0;
    for (const auto& [what, expected] : statistics.items()) {
      const auto found = figures.find(what);
      if (found == figures.end()) continue;
      INFO(what);
      CHECK(found->second == expected.get<std::int64_t>());
      ++compared;
    }
    CHECK(compared == 122);
    CHECK(outcome.limit);
    CHECK(outcome.statistics.num_alloc_retries > 0);
    CHECK(outcome.earlier_blocks == 0);
  }
}

TEST_CASE("other options and another limit change what becomes of a history") {
  const std::string history = content(test::data_file("allocator/history_default.pickle"));
  const ReplayOutcome as_it_was = replayed(history);
  ReplaySettings expandable;
  expandable.options = "expandable_segments:True";
  const ReplayOutcome other = replayed(history, expandable);
  CHECK(other.statistics.segment.all.allocated == 0);  // neither are there segments of cudaMalloc
  CHECK(other.statistics.inactive_split_bytes.all.peak == 0);
  CHECK(other.statistics.reserved_bytes.all.peak <= as_it_was.limit->value);
  CHECK(other.statistics.requested_bytes.all.allocated == as_it_was.statistics.requested_bytes.all.allocated);
  ReplaySettings tight;
  tight.limit = mebibytes(200);
  const ReplayOutcome failing = replayed(history, tight);
  CHECK(failing.statistics.num_ooms > as_it_was.statistics.num_ooms);
  REQUIRE_FALSE(failing.failures.empty());
  CHECK(failing.failures.front().operation > 0);
  CHECK(failing.limit_source == LimitSource::given);
}

// What a small training had at its peak, added up from the file by a program that knows nothing of this one.
TEST_CASE("what lives at the peak is added up by who asked for it") {
  const LiveBlocks live = replayed(content(test::data_file("allocator/history_stacks.pickle"))).at_peak;
  CHECK(live.operation == 119);
  CHECK(live.bytes == Bytes{100'372'484});
  CHECK(live.blocks == 35);
  REQUIRE(live.by_origin.size() == 8);
  const auto is = [](const BlocksOfOrigin& each, std::int64_t bytes, std::int64_t blocks, const char* where) {
    return each.bytes.value == bytes && each.blocks == blocks && each.where == where;
  };
  CHECK(is(live.by_origin[0], 38'772'736, 6, "MmBackward0 (autograd)"));
  CHECK(is(live.by_origin[1], 33'554'432, 1, "/home/someone/my_model.py:11 (forward)"));
  CHECK(is(live.by_origin[2], 18'726'912, 18, "/home/someone/train.py:13 (step)"));  // of torch/optim/adam.py
  CHECK(is(live.by_origin[7], 4, 1, "/home/someone/train.py:11 (step)"));
}

TEST_CASE("blocks without a stack are told as such, and operations by hand have none") {
  const LiveBlocks live = replayed(content(test::data_file("allocator/history_default.pickle"))).at_peak;
  REQUIRE(live.by_origin.size() == 1);
  CHECK(live.by_origin.front().where.empty());
  CHECK(live.by_origin.front().blocks == live.blocks);
  // The second fails, so that the first is all there is at the peak.
  const LiveBlocks one =
      replayed(R"({"limit": 4194304, "ops": [["m","a",1000],["m","b",3000000],["f","a"]]})").at_peak;
  CHECK(one.bytes == Bytes{1000});
  CHECK(one.operation == 1);
  CHECK(one.by_origin.empty());
}

TEST_CASE("a frame is of the program, of torch, or says nothing") {
  const auto kind = [](const char* file, const char* function) {
    return origin_of({file, 7, function}).kind;
  };
  CHECK(kind("/env/lib/python3.11/site-packages/transformers/models/llama.py", "forward") ==
        FrameKind::program);
  CHECK(kind("<stdin>", "<module>") == FrameKind::program);
  CHECK(kind("/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", "forward") == FrameKind::torch);
  CHECK(kind("/tmp/torchinductor_me/ab/cab.py", "call") == FrameKind::torch);
  CHECK(kind("??", "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)") ==
        FrameKind::torch);
  CHECK(kind("Functions.cpp", "torch::autograd::generated::MmBackward0_apply_functional(std::vector)") ==
        FrameKind::machinery);
  CHECK(kind("/usr/lib/python3.11/contextlib.py", "inner") == FrameKind::machinery);
  CHECK(kind("CUDACachingAllocator.cpp", "malloc") == FrameKind::machinery);
  CHECK(origin_of({"/usr/lib/python3/dist-packages/deepspeed/a.py", 7, "f"}).words == "deepspeed/a.py:7 (f)");
}

TEST_CASE("operations of streams and events") {
  const ReplayOutcome outcome =
      replayed(with_ops(R"(["m","a",67108864,0], ["r","a",5], ["f","a"], ["m","b",67108864], ["e",5,1], )"
                        R"(["m","c",67108864], ["x"])"));
  CHECK(outcome.operations == 7);
  CHECK(outcome.statistics.reserved_bytes.all.current == mebibytes(128).value);
  CHECK(outcome.statistics.num_sync_all_streams == 1);
  const ReplayOutcome failed =
      replayed(R"({"limit": 4194304, "ops": [["m","a",3000000], ["m","b",1], ["f","a"]]})");
  CHECK(failed.statistics.num_ooms == 1);  // the segment of the first would have 20 MiB
  CHECK(failed.failures.front().operation == 1);
}

TEST_CASE("calls that are of no block need none") {
  const ReplayOutcome outcome = replayed(with_ops(R"(["x"], ["e",1,1])"));
  CHECK(outcome.operations == 2);
  CHECK(outcome.statistics.reserved_bytes.all.peak == 0);
}

TEST_CASE("sizes whose sum is no number are refused") {
  const auto why_not = [](const std::string& text) {
    const auto recording = read_recording(text);
    REQUIRE_OK(recording);
    const auto outcome = replay(*recording, {});
    REQUIRE(!outcome);
    return to_string(outcome.error());
  };
  const std::string most = "9223372036854775807";
  CHECK(why_not(with_ops(R"(["m","a",)" + most + "]")) == "asks for more memory in all than can be counted");
  CHECK(why_not(R"({"options": "large_segment_size_mb:8796093022207", "ops": [["m","a",1048577]]})") ==
        "asks for more memory in all than can be counted");
  const ReplayOutcome limited = replayed("{\"limit\": " + most + R"(, "ops": [["m","a",1048577]]})");
  CHECK(limited.statistics.num_ooms == 0);
}

TEST_CASE("operations that make no sense are refused by their place") {
  CHECK(refusal("[]") == "no map with a list 'ops' ({\"ops\": [[\"m\", \"a\", 1048576], [\"f\", \"a\"]]})");
  CHECK(refusal("{\"ops\": [") == "not valid JSON");
  CHECK(refusal("") == "the file is empty");
  CHECK(refusal(with_ops("7")) ==
        "operation 1: no list that begins with a letter (as in [\"m\", \"a\", 1048576, 0])");
  CHECK(refusal(with_ops(R"(["z"])")) == "operation 1: unknown operation 'z' (known: m, f, d, c, r, e, x)");
  CHECK(refusal(with_ops(R"(["m","a",0])")) == "operation 1: 0 where a whole number from 1 on is expected");
  CHECK(refusal(with_ops(R"(["m","a",1.5])")) ==
        "operation 1: 1.5 where a whole number from 1 on is expected");
  CHECK(refusal(with_ops(R"(["m","a",18446744073709551615])")) ==
        "operation 1: 18446744073709551615 where a whole number from 1 on is expected");
  CHECK(refusal(with_ops(R"(["m","a",1,-1])")) ==
        "operation 1: -1 where a whole number from 0 on is expected");
  CHECK(refusal(with_ops(R"(["m","a"])")) == "operation 1: 'm' has 1 values, not 2");
  CHECK(refusal(with_ops(R"(["m","a",1],["m","a",1])")) == "operation 2: 'a' is allocated already");
  CHECK(refusal(with_ops(R"(["f","a"])")) == "operation 1: 'a' is not allocated");
  CHECK(refusal(with_ops(R"(["m","a",1],["f","a"],["c","a"])")) == "operation 3: 'a' was not freed by 'd'");
  CHECK(refusal(R"({"ops": [], "limit": -1})") == "limit: no positive number of bytes");
  CHECK(refusal(R"({"ops": [], "options": {"cup": 1}})") ==
        "options: unknown option 'cup' (known: cap, max_split (whole MiB), div; or a text)");
  CHECK_THAT(refusal(std::string(200'000, '[')), test::contains_text("not valid JSON"));
}

TEST_CASE("a fraction of a memory needs the memory") {
  ReplaySettings settings;
  settings.options = "per_process_memory_fraction:0.5";
  const auto recording = read_recording(with_ops(R"(["m","a",60000000])"));
  REQUIRE_OK(recording);
  const auto outcome = replay(*recording, settings);
  REQUIRE(!outcome);
  CHECK(to_string(outcome.error()) ==
        "per_process_memory_fraction: a fraction of an unknown memory (say how large it is by --limit)");
  settings.limit = mebibytes(100);
  CHECK(replay(*recording, settings)->statistics.num_ooms == 1);
}

TEST_CASE("a history that contradicts itself, or is none, is refused") {
  CHECK_THAT(refusal("}."), test::contains_text("the snapshot has no 'device_traces'"));
  // {"device_traces": [[]], "segments": []}
  CHECK_THAT(refusal("(dVdevice_traces\n(l(lasVsegments\n(ls."),
             test::contains_text("the snapshot has no history"));
  const std::string event = "(dVaction\nValloc\nsVaddr\nI512\nsVsize\nI100\nsVstream\nI0\ns";
  const auto history = [](const std::string& events) {
    return "(dVdevice_traces\n(l(l" + events + "asVsegments\n(ls.";
  };
  REQUIRE_OK(read_recording(history(event + "a")));
  CHECK(refusal(history(event + "a" + event + "a")) == "event 2: an address that is allocated already");
  CHECK(refusal(history("(dVaction\nVdance\nsa")) == "event 1: unknown action 'dance'");
  CHECK(refusal(history("Na")) ==
        "event 1 has no 'action' (torch.cuda.memory._dump_snapshot() writes such files)");
  CHECK(refusal(history("(dVaction\nValloc\nsVsize\nI-4\nsa")) == "event 1: 'size' is no size: -4");
  // Sums of sizes are numbers too.
  const std::string large =
      "(dVaction\nVsegment_free\nsVaddr\nI512\nsVsize\nI1152921504606846976\nsVstream\nI0\nsa";
  REQUIRE_OK(read_recording(history(large)));
  CHECK(refusal(history(large + large)) == "event 2: 'size' is no size: 1152921504606846976");
}

TEST_CASE("a file that begins as no recording does is refused without the rest of it") {
  CHECK(of_a_file_that_begins("") == "the pickle is damaged at byte 0 (opcode 0x00)");
  CHECK(of_a_file_that_begins("\x80\x04") == "the pickle is damaged at byte 2 (opcode 0x00)");
  CHECK(of_a_file_that_begins("a log\n") == "the pickle is damaged at byte 0 (opcode 0x61)");
  CHECK(of_a_file_that_begins("{\"ops\": [") == "is larger than 256 MiB, not a list of allocations");
  CHECK(of_a_file_that_begins("\x80\x04\x8d\xff\xff\xff\x0f\x00\x00\x00\x00") ==
        "is larger than 8.00 GiB, not a memory history");
  CHECK_THAT(refusal("{\"ops\": [" +
                     [] {
                       std::string lists;
                       for (std::size_t i = 0; i < k_most_json_values; ++i) lists += "[],";
                       return lists;
                     }() +
                     "0]}"),
             test::contains_text("has more than 6000000 values"));
}

}  // namespace shardlab
