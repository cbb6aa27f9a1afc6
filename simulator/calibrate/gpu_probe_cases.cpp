#include <algorithm>

#include "engine/plan/probed_collective.h"
#include "simulator/calibrate/case_list.h"
#include "simulator/calibrate/probe_cases.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_gpu_head_dim = 128;

void add_gpu_layer(CaseList& cases, DType dtype, std::int64_t rows, std::int64_t width) {
  cases.add(ProbeGroup::layer, Commonness::all, dtype, layer_size(rows, width, k_gpu_head_dim));
}

void add_attention(CaseList& cases, DType dtype, std::int64_t sequence, std::int64_t head_dim) {
  cases.add(ProbeGroup::attention, Commonness::all, dtype,
            {.batch = std::max<std::int64_t>(1, 4096 / sequence),
             .sequence = sequence,
             .heads = 4096 / head_dim,
             .kv_heads = 1024 / head_dim,
             .head_dim = head_dim});
}

// Fewer rows: the logits of 4096 tokens and their float32 copies are many GiB.
void add_ends(CaseList& cases, DType dtype, std::int64_t vocabulary) {
  constexpr std::int64_t k_rows = 2048, k_width = 4096;
  const ProbeSize size{.sequence = k_rows, .width = k_width, .vocabulary = vocabulary};
  cases.product(dtype, k_rows, k_width, vocabulary);
  cases.add(ProbeGroup::loss, Commonness::all, dtype, size);
  cases.add(ProbeGroup::table, Commonness::all, dtype, size);
}

}  // namespace

std::vector<ProbeCase> gpu_probe_cases() {
  CaseList cases;
  for (const std::int64_t kib : {256, 2 << 10, 16 << 10, 128 << 10, 1 << 20}) {
    for (const auto& collective : k_words<ProbedCollective>)
      cases.add({std::string(collective.text), {{"bytes", kib << 10}}});
  }
  for (const std::int64_t width : {4096, 2048, 8192, 1024})
    add_products(cases, DType::bfloat16, 4096, width, width / 4);
  for (const std::int64_t rows : {4096, 512}) add_gpu_layer(cases, DType::bfloat16, rows, 4096);
  for (const std::int64_t sequence : {4096, 1024, 8192}) add_attention(cases, DType::bfloat16, sequence, 128);
  add_attention(cases, DType::bfloat16, 4096, 64);
  for (const std::int64_t vocabulary : {32000, 128256}) add_ends(cases, DType::bfloat16, vocabulary);
  add_products(cases, DType::bfloat16, 512, 4096, 1024);
  add_products(cases, DType::float32, 4096, 2048, 512);
  add_gpu_layer(cases, DType::float32, 4096, 2048);
  add_attention(cases, DType::float32, 2048, 64);
  add_ends(cases, DType::float32, 32000);
  return cases.take();
}

}  // namespace shardlab
