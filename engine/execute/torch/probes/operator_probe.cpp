// Times one operator, forward and backward, through its real implementation.
#include "engine/execute/torch/probes/operator_bench.h"
#include "engine/model/operators/operator_type.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {
namespace {

std::string name_of(const OperatorProbe& parsed, const char* direction) {
  std::string name(parsed.type.name);
  name += direction;
  return name += to_string(parsed.dtype);
}

ProbeShape product_shape(const Work& work) {
  return {{"m", work.m}, {"n", work.n}, {"k", work.k}};
}

Status probe_product(const ProbeSession& session, const OperatorProbe& parsed, const OperatorBench& bench) {
  const std::string dtype(to_string(parsed.dtype));
  const OperatorDescription& description = bench.description();
  SHARDLAB_CHECK_OK(session.emit("matmul.forward." + dtype, product_shape(description.forward.at(0)),
                                 session.time([&](int repeat) { bench.forward(repeat); })));
  session.barrier();
  SHARDLAB_CHECK_OK(session.emit("matmul.input_gradient." + dtype, product_shape(description.backward.at(0)),
                                 session.time([&](int repeat) { bench.backward(repeat, true, false); })));
  session.barrier();
  return session.emit("matmul.weight_gradient." + dtype, product_shape(description.backward.at(1)),
                      session.time([&](int repeat) { bench.backward(repeat, false, true); }));
}

// What the cost model wants to know: of traffic bytes and pieces as the description counts them, of attention
// the shape itself.
ProbeShape measured_shape(const Work& work, const ProbeShape& shape) {
  if (work.kind == WorkKind::attention) return shape;
  return {{"bytes", work.bytes.value}, {"pieces", work.kernels}};
}

}  // namespace

std::optional<OperatorProbe> parse_operator_probe(std::string_view probe) {
  const std::size_t dot = probe.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const OperatorType* type = find_operator_type(probe.substr(0, dot));
  const auto dtype = parse_dtype(probe.substr(dot + 1));
  if (!dtype || type == nullptr || type->probe == nullptr || type->probe->graph == nullptr)
    return std::nullopt;
  return OperatorProbe{*type, *dtype};
}

Status probe_operator(const ProbeSession& session, const OperatorProbe& parsed, const ProbeShape& shape) {
  const ModelGraph graph = parsed.type.probe->graph(parsed.type, parsed.dtype, shape);
  const OperatorBench bench(graph, session.backend());
  session.barrier();
  const OperatorDescription& description = bench.description();
  if (description.forward.at(0).kind == WorkKind::matmul) return probe_product(session, parsed, bench);
  for (const bool forward : {true, false}) {
    const std::vector<Work>& work = forward ? description.forward : description.backward;
    if (work.empty()) continue;
    const auto samples = session.time(
        [&](int repeat) { forward ? bench.forward(repeat) : bench.backward(repeat, true, true); });
    SHARDLAB_CHECK_OK(session.emit(name_of(parsed, forward ? ".forward." : ".backward."),
                                   measured_shape(work[0], shape), samples));
    session.barrier();
  }
  return {};
}

}  // namespace shardlab
