// Times one operator, forward and backward, through its real implementation.
#include "engine/execute/torch/probes/operator_bench.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {
namespace {

std::string name_of(const OperatorProbe& parsed, const char* direction) {
  std::string name(parsed.operation);
  name += direction;
  return name += to_string(parsed.dtype);
}

ProbeShape product_shape(const Work& work) {
  return {{"m", work.m}, {"n", work.n}, {"k", work.k}};
}

Status probe_linear(const ProbeSession& session, const OperatorProbe& parsed, const OperatorBench& bench) {
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

// Of traffic the cost model wants bytes and pieces as the description counts them.
ProbeShape traffic_shape(const Work& work) {
  return {{"bytes", work.bytes.value}, {"pieces", work.kernels}};
}

}  // namespace

OperatorProbe parse_operator_probe(std::string_view probe) {
  OperatorProbe parsed;
  const std::size_t dot = probe.find('.');
  if (dot == std::string_view::npos) return parsed;
  parsed.operation = probe.substr(0, dot);
  const auto dtype = parse_dtype(probe.substr(dot + 1));
  parsed.known = dtype.has_value() && find_operator_type(parsed.operation) != nullptr;
  if (dtype) parsed.dtype = *dtype;
  return parsed;
}

Status probe_operator(const ProbeSession& session, const ProbeCase& probe) {
  const OperatorProbe parsed = parse_operator_probe(probe.probe);
  const ModelGraph graph = operator_graph(parsed, probe);
  const OperatorBench bench(graph, session.backend());
  session.barrier();
  if (parsed.operation == "linear") return probe_linear(session, parsed, bench);
  const bool attention = parsed.operation == "attention";
  const OperatorDescription& description = bench.description();
  for (const bool forward : {true, false}) {
    const std::vector<Work>& work = forward ? description.forward : description.backward;
    if (work.empty()) continue;
    const auto samples = session.time(
        [&](int repeat) { forward ? bench.forward(repeat) : bench.backward(repeat, true, true); });
    SHARDLAB_CHECK_OK(session.emit(name_of(parsed, forward ? ".forward." : ".backward."),
                                   attention ? probe.shape : traffic_shape(work[0]), samples));
    session.barrier();
  }
  return {};
}

}  // namespace shardlab
