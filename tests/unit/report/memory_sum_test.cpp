#include "engine/report/explain_memory/memory_sum.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

MemoryOverhead overhead(const char* name, Bytes bytes, OverheadPlace where) {
  return {name, bytes, bytes, bytes, where, "formula", "source"};
}

RunSummary on_a_gpu() {
  RunSummary run;
  run.memory.emplace();
  run.memory->peak_allocated = mebibytes(1000);
  run.memory->peak_reserved = mebibytes(1300);
  run.memory->peak_device = mebibytes(1700);
  run.memory->overheads = {overhead("CUDA context", mebibytes(300), OverheadPlace::device),
                           overhead("cuBLAS workspaces", mebibytes(60), OverheadPlace::allocator),
                           overhead("NCCL", mebibytes(100), OverheadPlace::device),
                           overhead("processes", mebibytes(4000), OverheadPlace::host)};
  run.memory_limit = mebibytes(2000);
  run.fit_margin = mebibytes(100);
  run.fits = Fit::yes;
  return run;
}

std::vector<std::string> names(const MemorySum& sum) {
  std::vector<std::string> names;
  for (const MemorySumLine& line : sum.lines) names.push_back(line.name);
  return names;
}

}  // namespace

TEST_CASE("tensors, workspaces, fragments and libraries add up to what the device holds") {
  const MemorySum sum = memory_sum(on_a_gpu());
  CHECK(names(sum) == std::vector<std::string>{"live tensors", "cuBLAS workspaces",
                                               "rounding and fragmentation", "reserved by the allocator",
                                               "CUDA context", "NCCL", "in use on the device"});
  CHECK(sum.lines[2].bytes == mebibytes(240));
  Bytes so_far;
  for (const MemorySumLine& line : sum.lines) {
    if (line.role == SumRole::part) so_far += line.bytes;
    if (line.role == SumRole::sum) CHECK(line.bytes == so_far);
  }
  CHECK(sum.total() == mebibytes(1700));
  CHECK(verdict_words(sum) == "fits, with 300 MiB to spare; libraries may take 100 MiB more");
}

TEST_CASE("a verdict says by how much") {
  RunSummary run = on_a_gpu();
  run.fits = Fit::unsure;
  CHECK(verdict_words(memory_sum(run)) == "unsure, with 300 MiB to spare; libraries may take 100 MiB more");
  run.fit_reason = "2 allocations only after the allocator gave memory back";
  CHECK(
      verdict_words(memory_sum(run)) ==
      "unsure, with 300 MiB to spare; 2 allocations only after the allocator gave memory back; libraries may "
      "take 100 MiB more");
  run.fits = Fit::no;
  run.fit_reason = "save full takes 90.0 GiB of a node's 89.0 GiB of host memory";
  CHECK(verdict_words(memory_sum(run)) ==
        "does not fit: save full takes 90.0 GiB of a node's 89.0 GiB of host memory");
  run.memory_limit = mebibytes(1500);
  CHECK(verdict_words(memory_sum(run)) == "does not fit: 200 MiB too much");
}

TEST_CASE("what nobody told apart is a line of its own") {
  RunSummary run = on_a_gpu();
  run.memory->peak_device = mebibytes(1750);
  const MemorySum sum = memory_sum(run);
  REQUIRE(sum.lines.size() == 8);
  CHECK(sum.lines[6].bytes == mebibytes(50));
}

TEST_CASE("on processors the tensors are all that is known") {
  RunSummary run;
  CHECK(memory_sum(run).lines.empty());
  run.memory.emplace();
  run.memory->peak_allocated = mebibytes(7);
  const MemorySum sum = memory_sum(run);
  CHECK(names(sum) == std::vector<std::string>{"live tensors"});
  CHECK(sum.total() == mebibytes(7));
  CHECK(verdict_words(sum) == "nothing is known of the device's memory");
}

}  // namespace shardlab
