// The reader of logs: lines, ranks, numbers, and what hostile bytes do to it.
#include "engine/doctor/log/log_reader.h"

#include <random>

#include <fmt/format.h>

#include "engine/base/text/log_lines.h"
#include "engine/base/text/rank_prefix.h"
#include "engine/base/units.h"
#include "engine/doctor/log/word_finder.h"
#include "tests/unit/doctor/log_blocks.h"

namespace shardlab {
namespace {

std::vector<std::pair<std::int64_t, std::string>> lines_of(std::string_view bytes, std::size_t piece) {
  std::vector<std::pair<std::int64_t, std::string>> lines;
  LineCutter cutter([&](std::int64_t number, std::string_view text) { lines.emplace_back(number, text); });
  for (std::size_t at = 0; at < bytes.size(); at += piece) cutter.feed(bytes.substr(at, piece));
  cutter.finish();
  return lines;
}

TEST_CASE("lines end at line feeds and where a progress bar goes back") {
  const auto lines = lines_of("a\n 5%|x\r 6%|y\nlast", 3);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == std::pair<std::int64_t, std::string>(1, "a"));
  CHECK(lines[1] == std::pair<std::int64_t, std::string>(2, " 5%|x"));
  CHECK(lines[2] == std::pair<std::int64_t, std::string>(2, " 6%|y"));
  CHECK(lines[3] == std::pair<std::int64_t, std::string>(3, "last"));
}

TEST_CASE("a line without end comes in pieces that overlap") {
  std::string line(k_longest_line - 10, 'x');
  line += "needle in a haystack";
  line.resize(2 * k_longest_line, 'y');
  const auto pieces = lines_of(line, 4096);
  REQUIRE(pieces.size() > 1);
  std::size_t seen = 0;
  for (const auto& [number, text] : pieces) {
    CHECK(number == 1);
    CHECK(text.size() <= k_longest_line);
    seen += text.find("needle in a haystack") != std::string::npos;
  }
  CHECK(seen == 1);
}

TEST_CASE("text is made readable") {
  CHECK(readable("a\tb  c \x01 d ") == "a b c d");
  CHECK(readable("ok \xff\xfe \xc3\xa4 \xed\xa0\x80") == "ok ?? \xc3\xa4 ???");
  CHECK(readable("a\u009b31m\u00a0b") == "a 31m\u00a0b");
  CHECK(readable("abcdef", 3) == "abc...");
  std::string scratch;
  CHECK(without_escapes("\x1b[31mred\x1b[0m \x1b]0;title\a.", scratch) == "red .");
}

TEST_CASE("ranks are read from what stands before a line") {
  const auto rank = [](std::string_view line) { return rank_of_line(line).rank; };
  CHECK(rank("[rank3]: ValueError") == 3);
  CHECK(rank("[rank13]:[E ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog") == 13);
  CHECK(rank("[E ProcessGroupNCCL.cpp:607] [Rank 4] Watchdog") == 4);
  CHECK(rank("[PG ID 2 PG GUID 9 Rank 7] Exception") == 7);
  CHECK(rank("[default2]:Traceback") == 2);
  CHECK(rank("[trainer3]:node16:1958:1958 [3] NCCL INFO") == 3);
  CHECK(rank(" 5: [rank5]: error") == 5);
  CHECK(rank("[1,6]<stderr>: error") == 6);
  CHECK(rank("2026-01-02 10:20:30,123 [Rank 2] error") == 2);
  CHECK(rank("worker-1: [rank9]: error") == 9);
  CHECK(rank("[2024-02-27T21:35:28.419846Z] fa88a9df [rank=5] || RuntimeError") == 5);
  CHECK_FALSE(rank("12:30:11 an hour, not a rank"));
  CHECK_FALSE(rank("[0/0] Graph break"));
  CHECK_FALSE(rank("epoch 3: loss 2.1"));
  CHECK(rank_of_line("[rank3]: ValueError: x").text == " ValueError: x");
}

TEST_CASE("numbers of the allocator's messages are read in all their wordings") {
  const auto old = read_allocator_message(
      "CUDA out of memory. Tried to allocate 1.39 GiB (GPU 0; 6.00 GiB total capacity; 4.04 GiB already "
      "allocated; "
      "478.00 MiB free; 4.15 GiB reserved in total by PyTorch)");
  REQUIRE(old);
  CHECK(old->capacity == gibibytes(6));
  CHECK(old->free == mebibytes(478));
  CHECK(old->asked == Bytes{std::llround(1.39 * 0x1p30)});
  CHECK(to_string(*idle_reserve(*old)) == "113 MiB");
  CHECK(to_string(*held_by_others(*old)) == "904 MiB");  // 6 GiB - 478 MiB - 4.15 GiB - 512 MiB
  const auto now = read_allocator_message(
      "CUDA out of memory. Tried to allocate 388.00 MiB. GPU 0 has a total capacity of 9.68 GiB of which "
      "95.75 MiB is "
      "free. Process 4711 has 1.00 GiB memory in use. Including non-PyTorch memory, this process has 8.50 "
      "GiB memory "
      "in use. Of the allocated memory 5.00 GiB is allocated by PyTorch, and 2.50 GiB is reserved by PyTorch "
      "but "
      "unallocated.");
  REQUIRE(now);
  CHECK(now->reserved == Bytes{gibibytes(7).value + mebibytes(512).value});
  CHECK(now->others == gibibytes(1));
  CHECK(now->this_process == Bytes{std::llround(8.5 * 0x1p30)});
  const auto first = read_allocator_message(
      "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.17 GiB total capacity; 10.50 GiB already "
      "allocated; "
      "4.00 MiB free; 40.00 MiB cached)");
  REQUIRE(first);
  CHECK(first->reserved == mebibytes(40));
  CHECK_FALSE(read_allocator_message("CUDA out of memory."));
}

TEST_CASE("the watchdog's lines are read and joined by rank") {
  const LogFacts facts = read_log(
      "[rank2]:[E a.cpp:1] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, "
      "OpType=ALLREDUCE, "
      "NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 1 milliseconds\n"
      "[rank2]:[E a.cpp:2] [PG ID 1 PG GUID 5(x) Rank 2] Exception (either an error or timeout) detected by "
      "watchdog at "
      "work: 7, last enqueued NCCL work: 9, last completed NCCL work: 6.\n",
      all_signs());
  REQUIRE(facts.collectives.contains(2));
  const CollectiveMessage& message = facts.collectives.at(2).message;
  CHECK(message.sequence == 7);
  CHECK(message.operation == "ALLREDUCE");
  CHECK(message.last_enqueued == 9);
  CHECK(message.last_completed == 6);
  CHECK(message.group == "5");
}

TEST_CASE("words are found in any case, wherever they overlap") {
  const WordFinder finder({"he", "she", "hers", "SHE"});
  std::vector<std::uint32_t> found;
  std::vector<std::uint8_t> marks;
  finder.find("usHErs", found, marks);
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector<std::uint32_t>{0, 1, 2, 3});
  finder.find("nothing", found, marks);
  CHECK(found.empty());
}

TEST_CASE("the rank that is behind is named first, and who died before who noticed") {
  const Examination behind = test::examine_text(
      "[rank0]:[E a.cpp:1] [PG ID 1 PG GUID 5 Rank 0] Timeout at WorkNCCL(SeqNum=8, OpType=ALLREDUCE, "
      "NumelIn=4, "
      "NumelOut=4, Timeout(ms)=600000) before timing out\n"
      "[rank3]:[E a.cpp:1] [PG ID 1 PG GUID 5 Rank 3] Timeout at WorkNCCL(SeqNum=6, OpType=_ALLGATHER_BASE, "
      "NumelIn=4, "
      "NumelOut=4, Timeout(ms)=600000) before timing out\n");
  REQUIRE_FALSE(behind.findings.empty());
  CHECK(behind.findings[0].rule == "collectives/rank-skips");
  CHECK(
      behind.findings[0].message ==
      "Ranks of one group stand at different collectives: rank 3 at collective 6 _ALLGATHER_BASE, rank 0 at "
      "collective 8 ALLREDUCE.");

  std::string job = "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";
  for (int rank = 0; rank < 5; ++rank)
    job += fmt::format("[rank{0}]: ncclRemoteError: A call failed possibly due to a network error\n", rank);
  job += "WARNING: Sending process 1167 closing signal SIGTERM\n";
  const Examination died = test::examine_text(job);
  REQUIRE_FALSE(died.findings.empty());
  CHECK(died.findings[0].evidence[0].rank == 5);
  const Finding* remote = test::finding_of_rule(died, "collectives/remote-error");
  REQUIRE(remote != nullptr);
  CHECK(remote->severity == Severity::info);
}

TEST_CASE("a failure that no rule knows is called unknown, with its line") {
  const Examination found = test::examine_text(
      "step 1\nTraceback (most recent call last):\n  File \"x.py\", line 3, in f\nZebraError: stripes\n");
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings[0].rule == "log/unknown");
  CHECK(found.findings[0].codes.empty());
  CHECK(found.findings[0].severity == Severity::warning);
  CHECK(found.findings[0].evidence[0].where == "line 4");
  CHECK(test::examine_text("step 1\nstep 2\n").findings.empty());
  const Examination beside =
      test::examine_text("ZebraError: stripes\nSending process 7 closing signal SIGTERM\n");
  REQUIRE(beside.findings.size() == 2);
  CHECK(beside.findings[0].rule == "log/unknown");
  CHECK(beside.findings[1].severity == Severity::info);
}

TEST_CASE("mutated logs give findings or none, never a failure") {
  std::mt19937 random(20261123);
  std::string all;
  const auto blocks = test::log_blocks("messages.txt");
  int mutations = 0, findings = 0;
  for (int round = 0; round < 400; ++round) {
    for (const test::LogBlock& block : blocks) {
      const Examination found = test::examine_text(test::mutated(block.text, random));
      ++mutations;
      for (const Finding& finding : found.findings) {
        ++findings;
        REQUIRE_FALSE(finding.evidence.empty());
        REQUIRE(finding.evidence[0].text.size() < 400);
      }
    }
  }
  WARN(mutations << " mutations, " << findings << " findings");
  CHECK(mutations > 20000);
  CHECK(findings > mutations / 2);
}

TEST_CASE("what is found does not depend on how the bytes are cut") {
  std::string log;
  for (const test::LogBlock& block : test::log_blocks("messages.txt")) log += block.text;
  const LogFacts whole = read_log(log, all_signs());
  for (const std::size_t piece : {1u, 7u, 4096u}) {
    LogReader reader(all_signs());
    for (std::size_t at = 0; at < log.size(); at += piece)
      reader.feed(std::string_view(log).substr(at, piece));
    const LogFacts cut = reader.finish();
    CHECK(cut.lines == whole.lines);
    CHECK(cut.likely == whole.likely);
    REQUIRE(cut.signs.size() == whole.signs.size());
    for (const auto& [sign, seen] : whole.signs) {
      REQUIRE(cut.seen(*sign) != nullptr);
      CHECK(cut.seen(*sign)->lines == seen.lines);
      CHECK(cut.seen(*sign)->count == seen.count);
    }
  }
}

TEST_CASE("a log of 512 ranks is disentangled") {
  std::string log;
  for (int rank = 0; rank < 512; ++rank)
    log += fmt::format("[rank{}]: Traceback (most recent call last):\n", rank);
  for (int rank = 0; rank < 512; ++rank)
    log += fmt::format("[rank{}]:   File \"{}.py\", line 1, in {}\n", rank, rank,
                       rank == 300 ? "pin_memory" : "step");
  for (int rank = 0; rank < 512; ++rank)
    log += fmt::format("[rank{}]: RuntimeError: CUDA error: invalid argument\n", rank);
  const Examination found = test::examine_text(log);
  const Finding* pinned = test::finding_of_rule(found, "memory/pinned-too-much");
  REQUIRE(pinned != nullptr);
  CHECK(pinned->evidence[0].rank == 300);
}

}  // namespace
}  // namespace shardlab
