#include "engine/execute/bench_cases.h"

#include "engine/plan/probed_collective.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_kib = 1024;
constexpr std::int64_t k_mib = 1024 * k_kib;

void add_products(std::vector<ProbeCase>& cases, bool on_gpus) {
  const auto add = [&](const char* dtype, std::int64_t size) {
    cases.push_back({std::string("linear.") + dtype, {{"rows", size}, {"inputs", size}, {"outputs", size}}});
  };
  if (on_gpus) {
    for (const std::int64_t size : {1024, 2048, 4096, 8192, 16384}) add("bfloat16", size);
    for (const std::int64_t size : {2048, 4096}) add("float32", size);
  } else {
    for (const std::int64_t size : {128, 256, 512, 1024}) add("float32", size);
    add("bfloat16", 512);
  }
}

void add_attention(std::vector<ProbeCase>& cases, bool on_gpus) {
  const char* name = on_gpus ? "attention.bfloat16" : "attention.float32";
  const std::vector<std::int64_t> sequences =
      on_gpus ? std::vector<std::int64_t>{1024, 4096, 8192} : std::vector<std::int64_t>{128, 512};
  for (const std::int64_t sequence : sequences) {
    const std::int64_t heads = on_gpus ? 32 : 8, head_dim = on_gpus ? 128 : 64;
    cases.push_back({name,
                     {{"batch", 1},
                      {"sequence", sequence},
                      {"heads", heads},
                      {"kv_heads", heads / 4},
                      {"head_dim", head_dim}}});
  }
}

void add_copies(std::vector<ProbeCase>& cases, bool on_gpus) {
  const std::int64_t largest = on_gpus ? 1024 * k_mib : 64 * k_mib;
  for (std::int64_t bytes = largest / 64; bytes <= largest; bytes *= 8) {
    for (const char* name : {"copy", "copy.to_device", "copy.from_device"}) {
      if (on_gpus || std::string(name) == "copy") cases.push_back({name, {{"bytes", bytes}}});
    }
  }
}

void add_collectives(std::vector<ProbeCase>& cases, bool on_gpus) {
  const std::int64_t largest = on_gpus ? 1024 * k_mib : 16 * k_mib;
  for (const auto& collective : k_words<ProbedCollective>) {
    for (std::int64_t bytes = 4 * k_kib; bytes <= largest; bytes *= on_gpus ? 8 : 16)
      cases.push_back({std::string(collective.text), {{"bytes", bytes}}});
  }
}

}  // namespace

std::vector<ProbeCase> bench_cases(const BenchSelection& selection, bool on_gpus) {
  std::vector<ProbeCase> cases;
  if (selection.products) add_products(cases, on_gpus);
  if (selection.attention) add_attention(cases, on_gpus);
  if (selection.copies) add_copies(cases, on_gpus);
  if (selection.collectives) add_collectives(cases, on_gpus);
  if (selection.pairs) cases.push_back({"pairs", {{"bytes", on_gpus ? 64 * k_mib : 4 * k_mib}}});
  return cases;
}

}  // namespace shardlab
