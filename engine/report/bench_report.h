// Micro-benchmarks as people compare them: rates instead of times.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/report/link_diagnosis.h"
#include "engine/report/terminal.h"

namespace shardlab {

// One measurement: the median of its repeats, of the slowest rank that took part; of a pair the best repeat,
// for a slow link is slow at its best.
struct BenchSample {
  std::string name;                           // "matmul.forward.bfloat16", "all_gather", "pair"
  std::map<std::string, std::int64_t> shape;  // {"m": 4096, ...}
  std::int64_t time_ns = 0;
};

enum class BenchUnit { flops_per_second, bytes_per_second };

struct BenchRow {
  std::string group;  // "products", "attention", "copies", "collectives"
  std::string name;
  std::string size;
  Nanoseconds time;
  double rate = 0;  // of work or bytes a second
  BenchUnit unit = BenchUnit::bytes_per_second;
  // Collectives: bytes a second that each rank's link carries, as nccl-tests counts them ("bus bandwidth"):
  // comparable with the hardware's peak whatever the number of ranks. Zero elsewhere.
  double bus = 0;
};

struct BenchReport {
  std::vector<BenchRow> rows;
  std::vector<PairLink> links;
};

BenchReport make_bench_report(const std::vector<BenchSample>& samples);

std::string bench_table(const BenchReport& report, const TextStyle& style);

}  // namespace shardlab
