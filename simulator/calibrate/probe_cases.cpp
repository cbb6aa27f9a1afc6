#include "simulator/calibrate/probe_cases.h"

#include <algorithm>
#include <string>

#include "engine/model/operators/operator_type.h"
#include "simulator/calibrate/case_list.h"

namespace shardlab {
namespace {

void add_rows(CaseList& cases, DType dtype, std::int64_t rows, std::int64_t width) {
  cases.add("rms_norm", dtype, {{"rows", rows}, {"width", width}});
  cases.add("add", dtype, {{"rows", rows}, {"width", width}});
  cases.add("cast", dtype, {{"rows", rows}, {"width", width}});
  cases.add("swiglu", dtype, {{"rows", rows}, {"width", feed_forward(width)}});
  cases.add("rope", dtype, {{"batch", 1}, {"sequence", rows}, {"heads", width / 32}, {"head_dim", 32}});
}

void add_attention(CaseList& cases, DType dtype, std::int64_t batch, std::int64_t sequence,
                   std::int64_t heads, std::int64_t head_dim) {
  cases.add("attention", dtype,
            {{"batch", batch},
             {"sequence", sequence},
             {"heads", heads},
             {"kv_heads", heads / 2},
             {"head_dim", head_dim}});
}

// Of the other implementation.
void add_eager(CaseList& cases, DType dtype) {
  for (const char* name :
       {"eager_geglu", "eager_gelu_new", "eager_rms_norm", "eager_soft_cap", "eager_swiglu"})
    cases.add(name, dtype, {{"rows", 512}, {"width", 256}});
  cases.add("eager_rope", dtype, {{"batch", 1}, {"sequence", 512}, {"heads", 8}, {"head_dim", 32}});
  cases.add("eager_packed_rope", dtype,
            {{"batch", 1}, {"sequence", 512}, {"heads", 8}, {"kv_heads", 2}, {"head_dim", 32}});
  cases.add("eager_cross_entropy", dtype, {{"rows", 256}, {"width", 1}, {"vocabulary", 4096}});
}

// Enough for a prediction within its tolerance, in a few seconds.
void add_core(CaseList& cases, DType dtype) {
  for (const std::int64_t width : {128, 256, 512}) add_products(cases, dtype, 512, width, width / 2);
  for (const std::int64_t rows : {32, 512, 2048}) add_rows(cases, dtype, rows, 256);
  for (const char* name : {"layer_norm", "gelu", "geglu", "soft_cap"})  // of families other than Llama's
    cases.add(name, dtype, {{"rows", 512}, {"width", 256}});
  add_eager(cases, dtype);
  for (const std::int64_t sequence : {32, 128, 512})
    add_attention(cases, dtype, 512 / sequence, sequence, 8, 32);
  add_attention(cases, dtype, 1, 512, 8, 64);
  for (const std::int64_t vocabulary : {256, 4096}) {
    cases.add("cross_entropy", dtype, {{"rows", 256}, {"width", 1}, {"vocabulary", vocabulary}});
    cases.add("embedding", dtype, {{"rows", 512}, {"width", 256}, {"vocabulary", vocabulary}});
    cases.linear(dtype, 256, 256, vocabulary);
  }
  cases.linear(dtype, 32, 64, 64);
  cases.linear(dtype, 32, 64, 176);
  cases.linear(dtype, 32, 176, 64);
}

void add_extended(CaseList& cases, DType dtype) {
  for (const std::int64_t width : {128, 512}) add_products(cases, dtype, 128, width, width / 2);
  add_products(cases, dtype, 2048, 256, 128);
  add_products(cases, dtype, 512, 1024, 512);
  for (const std::int64_t sequence : {64, 256}) add_attention(cases, dtype, 512 / sequence, sequence, 8, 32);
  add_attention(cases, dtype, 1, 1024, 4, 128);
  add_rows(cases, dtype, 128, 256);
  add_rows(cases, dtype, 1024, 1024);
  cases.add("embedding", dtype, {{"rows", 64}, {"width", 256}, {"vocabulary", 256}});
  cases.add("embedding", dtype, {{"rows", 2048}, {"width", 512}, {"vocabulary", 256}});
  cases.add("cross_entropy", dtype, {{"rows", 256}, {"width", 1}, {"vocabulary", 32000}});
  cases.add("embedding", dtype, {{"rows", 512}, {"width", 256}, {"vocabulary", 32000}});
  cases.linear(dtype, 256, 256, 32000);
}

void add_collectives(CaseList& cases) {
  for (const std::int64_t kib : {4, 64, 512, 2048, 8192, 65536}) {
    for (const char* kind : {"all_gather", "reduce_scatter", "all_reduce"})
      cases.add({kind, {{"bytes", kib << 10}}});
  }
}

// Of its first floating-point input; what has none makes its output's.
DType dtype_of(const ModelGraph& graph, const Operator& op) {
  for (const TensorId input : op.inputs) {
    const Tensor& tensor = graph.tensor(input);
    if (tensor.role == TensorRole::activation && is_floating_point(tensor.dtype)) return tensor.dtype;
  }
  return graph.tensor(op.outputs[0]).dtype;
}

// What a probe of rows and a width describes; of the others (experts, learned positions, chunked losses)
// predictions take the figures of the machine's memory and products.
bool is_row_operator(std::string_view name) {
  if (name.starts_with("eager_")) name.remove_prefix(6);
  for (const char* known :
       {"add", "cast", "geglu", "gelu", "gelu_new", "layer_norm", "rms_norm", "soft_cap", "swiglu"}) {
    if (name == known) return true;
  }
  return false;
}

// An operator of a graph as a case; the shape has the names that probe.h lists.
void add_operator(CaseList& cases, const ModelGraph& graph, const Operator& op) {
  const std::string_view name = op.type->name;
  const Shape& shape = graph.tensor(op.inputs[0]).shape;
  const Shape& output = graph.tensor(op.outputs[0]).shape;
  const DType dtype = dtype_of(graph, op);
  const std::int64_t rows = graph.micro_batch * graph.sequence_length;
  const std::int64_t head_dim = op.attributes.integer("head_dim");
  if (name == "linear") {
    cases.linear(dtype, rows, shape.back(), output.back());
  } else if (name == "linear_add") {
    cases.linear(dtype, rows, graph.tensor(op.inputs[1]).shape.back(), output.back());
  } else if (name == "attention") {
    cases.add(name, dtype,
              {{"batch", shape[0]},
               {"sequence", shape[1]},
               {"heads", op.attributes.integer("heads")},
               {"kv_heads", op.attributes.integer("kv_heads")},
               {"head_dim", head_dim}});
  } else if (name == "rope" || name == "eager_rope") {
    cases.add(name, dtype,
              {{"batch", shape[0]},
               {"sequence", shape[1]},
               {"heads", shape.back() / head_dim},
               {"head_dim", head_dim}});
  } else if (name == "eager_packed_rope") {
    const std::int64_t turned = op.attributes.integer("turned");
    const std::int64_t kv_heads = shape.back() / head_dim / (turned + 1);
    cases.add(name, dtype,
              {{"batch", shape[0]},
               {"sequence", shape[1]},
               {"heads", kv_heads * (turned - 1)},
               {"kv_heads", kv_heads},
               {"head_dim", head_dim}});
  } else if (name == "embedding") {
    cases.add(name, dtype, {{"rows", rows}, {"width", output.back()}, {"vocabulary", graph.vocabulary}});
  } else if (name == "cross_entropy" || name == "eager_cross_entropy") {
    cases.add(name, dtype, {{"rows", rows}, {"width", 1}, {"vocabulary", shape.back()}});
  } else if (is_row_operator(name) && (name != "swiglu" || op.inputs.size() == 2)) {
    cases.add(name, dtype, {{"rows", rows}, {"width", shape.back()}});
  }
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

std::vector<ProbeCase> probe_cases_of(const ModelGraph& graph) {
  CaseList cases;
  for (const Operator& op : graph.operators) add_operator(cases, graph, op);
  return cases.take();
}

}  // namespace shardlab
