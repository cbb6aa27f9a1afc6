#include <algorithm>

#include "simulator/calibrate/case_list.h"
#include "simulator/calibrate/probe_cases.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_head_dim = 128;

void add_rows(CaseList& cases, DType dtype, std::int64_t rows, std::int64_t width) {
  for (const char* name : {"rms_norm", "layer_norm", "add", "cast", "gelu", "soft_cap", "eager_rms_norm",
                           "eager_gelu_new", "eager_soft_cap"})
    cases.add(name, dtype, {{"rows", rows}, {"width", width}});
  for (const char* name : {"swiglu", "geglu", "eager_swiglu", "eager_geglu"})
    cases.add(name, dtype, {{"rows", rows}, {"width", feed_forward(width)}});
  for (const char* name : {"rope", "eager_rope"}) {
    cases.add(name, dtype,
              {{"batch", 1}, {"sequence", rows}, {"heads", width / k_head_dim}, {"head_dim", k_head_dim}});
  }
  cases.add("eager_packed_rope", dtype,
            {{"batch", 1},
             {"sequence", rows},
             {"heads", width / k_head_dim},
             {"kv_heads", width / k_head_dim / 4},
             {"head_dim", k_head_dim}});
}

void add_attention(CaseList& cases, DType dtype, std::int64_t sequence, std::int64_t head_dim) {
  cases.add("attention", dtype,
            {{"batch", std::max<std::int64_t>(1, 4096 / sequence)},
             {"sequence", sequence},
             {"heads", 4096 / head_dim},
             {"kv_heads", 1024 / head_dim},
             {"head_dim", head_dim}});
}

// Fewer rows: the logits of 4096 tokens and their float32 copies are many GiB.
void add_ends(CaseList& cases, DType dtype, std::int64_t vocabulary) {
  constexpr std::int64_t k_rows = 2048;
  cases.linear(dtype, k_rows, 4096, vocabulary);
  for (const char* name : {"cross_entropy", "eager_cross_entropy"})
    cases.add(name, dtype, {{"rows", k_rows}, {"width", 1}, {"vocabulary", vocabulary}});
  cases.add("embedding", dtype, {{"rows", k_rows}, {"width", 4096}, {"vocabulary", vocabulary}});
}

}  // namespace

std::vector<ProbeCase> gpu_probe_cases() {
  CaseList cases;
  for (const std::int64_t kib : {256, 2 << 10, 16 << 10, 128 << 10, 1 << 20}) {
    for (const char* kind : {"all_gather", "reduce_scatter", "all_reduce"})
      cases.add({kind, {{"bytes", kib << 10}}});
  }
  for (const std::int64_t width : {4096, 2048, 8192, 1024})
    add_products(cases, DType::bfloat16, 4096, width, width / 4);
  for (const std::int64_t rows : {4096, 512}) add_rows(cases, DType::bfloat16, rows, 4096);
  for (const std::int64_t sequence : {4096, 1024, 8192}) add_attention(cases, DType::bfloat16, sequence, 128);
  add_attention(cases, DType::bfloat16, 4096, 64);
  for (const std::int64_t vocabulary : {32000, 128256}) add_ends(cases, DType::bfloat16, vocabulary);
  add_products(cases, DType::bfloat16, 512, 4096, 1024);
  add_products(cases, DType::float32, 4096, 2048, 512);
  add_rows(cases, DType::float32, 4096, 2048);
  add_attention(cases, DType::float32, 2048, 64);
  add_ends(cases, DType::float32, 32000);
  return cases.take();
}

}  // namespace shardlab
