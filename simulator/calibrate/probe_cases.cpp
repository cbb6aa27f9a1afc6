#include "simulator/calibrate/probe_cases.h"

#include <optional>
#include <utility>

#include "engine/execute/swap_place.h"
#include "engine/plan/probed_collective.h"
#include "engine/scenario/offload_spec.h"
#include "simulator/calibrate/case_list.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_head_dim = 32;

void add_layer(CaseList& cases, DType dtype, std::int64_t rows, std::int64_t width) {
  cases.add(ProbeGroup::layer, Commonness::common, dtype, layer_size(rows, width, k_head_dim));
}

void add_attention(CaseList& cases, DType dtype, std::int64_t batch, std::int64_t sequence,
                   std::int64_t heads, std::int64_t head_dim) {
  cases.add(
      ProbeGroup::attention, Commonness::common, dtype,
      {.batch = batch, .sequence = sequence, .heads = heads, .kv_heads = heads / 2, .head_dim = head_dim});
}

void add_loss(CaseList& cases, DType dtype, Commonness which, std::int64_t rows, std::int64_t vocabulary) {
  cases.add(ProbeGroup::loss, which, dtype, {.sequence = rows, .vocabulary = vocabulary});
}

void add_embedding(CaseList& cases, DType dtype, std::int64_t rows, std::int64_t width,
                   std::int64_t vocabulary) {
  cases.add(ProbeGroup::table, Commonness::common, dtype,
            {.sequence = rows, .width = width, .vocabulary = vocabulary});
}

// Operators of families other than Llama's, and of the other implementation: at one size.
void add_others(CaseList& cases, DType dtype) {
  ProbeSize size = layer_size(512, 256, k_head_dim);
  size.inner_width = size.width;
  cases.add(ProbeGroup::layer, Commonness::other, dtype, size);
  add_loss(cases, dtype, Commonness::other, 256, 4096);
}

// Enough for a prediction within its tolerance, in a few seconds.
void add_core(CaseList& cases, DType dtype) {
  for (const std::int64_t width : {128, 256, 512}) add_products(cases, dtype, 512, width, width / 2);
  for (const std::int64_t rows : {32, 512, 2048}) add_layer(cases, dtype, rows, 256);
  add_others(cases, dtype);
  for (const std::int64_t sequence : {32, 128, 512})
    add_attention(cases, dtype, 512 / sequence, sequence, 8, 32);
  add_attention(cases, dtype, 1, 512, 8, 64);
  for (const std::int64_t vocabulary : {256, 4096}) {
    add_loss(cases, dtype, Commonness::common, 256, vocabulary);
    add_embedding(cases, dtype, 512, 256, vocabulary);
    cases.product(dtype, 256, 256, vocabulary);
  }
  cases.product(dtype, 32, 64, 64);
  cases.product(dtype, 32, 64, 176);
  cases.product(dtype, 32, 176, 64);
}

void add_extended(CaseList& cases, DType dtype) {
  for (const std::int64_t width : {128, 512}) add_products(cases, dtype, 128, width, width / 2);
  add_products(cases, dtype, 2048, 256, 128);
  add_products(cases, dtype, 512, 1024, 512);
  for (const std::int64_t sequence : {64, 256}) add_attention(cases, dtype, 512 / sequence, sequence, 8, 32);
  add_attention(cases, dtype, 1, 1024, 4, 128);
  add_layer(cases, dtype, 128, 256);
  add_layer(cases, dtype, 1024, 1024);
  add_embedding(cases, dtype, 64, 256, 256);
  add_embedding(cases, dtype, 2048, 512, 256);
  add_loss(cases, dtype, Commonness::common, 256, 32000);
  add_embedding(cases, dtype, 512, 256, 32000);
  cases.product(dtype, 256, 256, 32000);
}

void add_collectives(CaseList& cases) {
  for (const std::int64_t kib : {4, 64, 512, 2048, 8192, 65536}) {
    for (const auto& collective : k_words<ProbedCollective>)
      cases.add({std::string(collective.text), {{"bytes", kib << 10}}});
  }
}

// The dtype of its first floating-point input; an operator that has none takes its output's.
DType dtype_of(const ModelGraph& graph, const Operator& op) {
  for (const TensorId input : op.inputs) {
    const Tensor& tensor = graph.tensor(input);
    if (tensor.role == TensorRole::activation && is_floating_point(tensor.dtype)) return tensor.dtype;
  }
  return graph.tensor(op.outputs[0]).dtype;
}

// An operator of a graph as a case, where its type says how it is measured.
void add_operator(CaseList& cases, const ModelGraph& graph, const Operator& op) {
  const ProbeRecipe* recipe = op.type->probe;
  if (recipe == nullptr) return;
  std::optional<ProbeShape> shape = recipe->of(graph, op);
  if (!shape) return;
  const OperatorType& type = recipe->measured_as != nullptr ? *recipe->measured_as : *op.type;
  cases.add(type, dtype_of(graph, op), *std::move(shape));
}

}  // namespace

std::vector<ProbeCase> standard_probe_cases() {
  CaseList cases;
  add_collectives(cases);
  cases.add({"allocation", {{"bytes", 256 << 10}}});
  cases.add({"contention", {{"bytes", 1 << 20}, {"rows", 512}, {"inputs", 256}, {"outputs", 688}}});
  for (const DType dtype : {DType::float32, DType::bfloat16}) add_core(cases, dtype);
  for (const DType dtype : {DType::float32, DType::bfloat16}) add_extended(cases, dtype);
  return cases.take();
}

std::vector<ProbeCase> drive_cases(const Scenario& scenario) {
  std::vector<ProbeCase> cases;
  if (scenario.offload->optimizer != OffloadTarget::nvme) return cases;
  const std::string probe = std::string(k_drive_probe) + swap_options(scenario, {}, 0).path;
  for (const std::int64_t mebi : {1, 4, 16, 64}) cases.push_back({probe, {{"bytes", mebi << 20}}});
  return cases;
}

std::vector<ProbeCase> probe_cases_of(const ModelGraph& graph) {
  CaseList cases;
  for (const Operator& op : graph.operators) add_operator(cases, graph, op);
  return cases.take();
}

}  // namespace shardlab
