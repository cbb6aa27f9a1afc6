// Times collectives alone, and products beside a collective.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <memory>

#include "engine/execute/torch/probes/operator_bench.h"

namespace shardlab {
namespace {

std::unique_ptr<Pending> issue(Communicator& communicator, std::string_view kind, const at::Tensor& full, const at::Tensor& own) {
  if (kind == "all_gather") return communicator.all_gather(full, own);
  if (kind == "reduce_scatter") return communicator.reduce_scatter(own, full, ReduceOperation::average);
  return communicator.all_reduce(full, ReduceOperation::average);
}

struct Buffers {
  Buffers(std::int64_t bytes, const Communicator& communicator) {
    const std::int64_t own_elements = std::max<std::int64_t>(bytes / 4 / communicator.size(), 1);
    full = at::zeros({own_elements * communicator.size()});
    own = full.narrow(0, own_elements * communicator.rank(), own_elements).clone();
  }
  at::Tensor full, own;
};

int repeats_for(std::int64_t bytes) { return bytes >= (32 << 20) ? 4 : bytes >= (4 << 20) ? 7 : 15; }

}  // namespace

Status probe_collective(const ProbeSession& session, const ProbeCase& probe) {
  Communicator& communicator = *session.communicator();
  const Buffers buffers(shape_number(probe, "bytes"), communicator);
  session.barrier();
  const auto samples = session.time_exactly(repeats_for(static_cast<std::int64_t>(buffers.full.nbytes())), [&] {
    issue(communicator, probe.probe, buffers.full, buffers.own)->wait();
  });
  return session.emit(probe.probe, {{"bytes", static_cast<std::int64_t>(buffers.full.nbytes())}, {"ranks", communicator.size()}},
                      samples);
}

// Four times: products alone; a collective alone; the same products while collectives run; and how long those collectives then took
// in all. They are queued for longer than the products last.
Status probe_contention(const ProbeSession& session, const ProbeCase& probe) {
  constexpr int k_repeats = 5;
  constexpr int k_products = 6;
  Communicator& communicator = *session.communicator();
  const ModelGraph graph = operator_graph(parse_operator_probe("linear.float32"), probe);
  const OperatorBench bench(graph);
  const Buffers buffers(shape_number(probe, "bytes"), communicator);
  const auto compute = [&] {
    for (int i = 0; i < k_products; ++i) bench.forward(i);
  };
  const auto communicate = [&] { issue(communicator, "all_gather", buffers.full, buffers.own)->wait(); };
  session.barrier();
  const auto compute_alone = session.time_exactly(k_repeats, compute);
  session.barrier();
  const auto collective_alone = session.time_exactly(k_repeats, communicate);
  std::vector<std::int64_t> compute_beside, both;
  // The same count on all ranks: everybody must issue the same collectives.
  const at::Tensor ratio = at::empty({1}).fill_(static_cast<double>(compute_alone[2]) / static_cast<double>(collective_alone[2]));
  communicator.all_reduce(ratio, ReduceOperation::average)->wait();
  const int count = std::clamp(static_cast<int>(*ratio.const_data_ptr<float>() * 3) + 1, 2, 200);
  for (int repeat = 0; repeat < k_repeats; ++repeat) {
    session.barrier();
    const Nanoseconds start = monotonic_now();
    std::vector<std::unique_ptr<Pending>> running;
    for (int i = 0; i < count; ++i) running.push_back(issue(communicator, "all_gather", buffers.full, buffers.own));
    compute();
    compute_beside.push_back((monotonic_now() - start).value);
    for (const auto& pending : running) pending->wait();
    both.push_back((monotonic_now() - start).value);
  }
  const ProbeShape shape{{"bytes", static_cast<std::int64_t>(buffers.full.nbytes())}, {"collectives", count}};
  SHARDLAB_CHECK_OK(session.emit("contention.compute_alone", shape, compute_alone));
  SHARDLAB_CHECK_OK(session.emit("contention.collective_alone", shape, collective_alone));
  SHARDLAB_CHECK_OK(session.emit("contention.compute_beside", shape, compute_beside));
  return session.emit("contention.both", shape, both);
}

}  // namespace shardlab
