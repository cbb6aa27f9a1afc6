// Times collectives alone, and products beside a collective.
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/execute/torch/probes/operator_bench.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {
namespace {

std::unique_ptr<Pending> issue(Communicator& communicator, ProbedCollective collective,
                               const at::Tensor& full, const at::Tensor& own) {
  switch (collective) {
    case ProbedCollective::all_gather: return communicator.all_gather(full, own);
    case ProbedCollective::reduce_scatter:
      return communicator.reduce_scatter(own, full, ReduceOperation::average);
    case ProbedCollective::all_reduce: break;
  }
  return communicator.all_reduce(full, ReduceOperation::average);
}

struct Buffers {
  Buffers(std::int64_t bytes, const Communicator& communicator, c10::Device device) {
    const std::int64_t own_elements = std::max<std::int64_t>(bytes / 4 / communicator.size(), 1);
    full = at::zeros({own_elements * communicator.size()}, at::TensorOptions(at::kFloat).device(device));
    own = full.narrow(0, own_elements * communicator.rank(), own_elements).clone();
  }
  at::Tensor full, own;
};

int repeats_for(std::int64_t bytes) {
  return bytes >= (32 << 20) ? 4 : bytes >= (4 << 20) ? 7 : 15;
}

// On a device: the same on all ranks, and longer than an event is exact.
int batch_for(std::int64_t bytes) {
  return bytes >= (256 << 20) ? 3 : bytes >= (32 << 20) ? 5 : 10;
}

}  // namespace

Status probe_collective(const ProbeSession& session, ProbedCollective collective, const ProbeCase& probe) {
  Communicator& communicator = *session.communicator();
  const Buffers buffers(shape_number(probe, "bytes"), communicator, session.device());
  const auto bytes = static_cast<std::int64_t>(buffers.full.nbytes());
  session.barrier();
  const auto samples = session.time_together(repeats_for(bytes), batch_for(bytes), [&] {
    finish(issue(communicator, collective, buffers.full, buffers.own));
  });
  return session.emit(probe.probe, {{"bytes", bytes}, {"ranks", communicator.size()}}, samples);
}

namespace {

// Products and collectives for the same time: alone, one after the other, and together.
class Contention {
 public:
  Contention(Communicator& communicator, const ModelGraph& graph, std::int64_t bytes)
      : communicator_(communicator), bench_(graph), buffers_(bytes, communicator, c10::kCPU) {}

  // Collectives to queue so that they last about three times as long as the products; the same on all ranks,
  // for everybody must issue as many.
  int count() {
    const double compute_ns = timed([&] { compute(); });
    const double collective_ns = timed([&] { gather()->wait(); });
    const at::Tensor ratio = at::empty({1}).fill_(compute_ns / collective_ns);
    communicator_.all_reduce(ratio, ReduceOperation::average)->wait();
    return std::clamp(static_cast<int>(*ratio.const_data_ptr<float>() * 3) + 1, 2, 100);
  }

  void compute() {
    for (int i = 0; i < k_products; ++i) bench_.forward(i);
  }
  std::unique_ptr<Pending> gather() {
    return issue(communicator_, ProbedCollective::all_gather, buffers_.full, buffers_.own);
  }
  std::int64_t bytes() const { return static_cast<std::int64_t>(buffers_.full.nbytes()); }

  template <typename Work>
  static double timed(Work work) {
    const Nanoseconds start = monotonic_now();
    work();
    return static_cast<double>((monotonic_now() - start).value);
  }

 private:
  static constexpr int k_products = 6;
  Communicator& communicator_;
  OperatorBench bench_;
  Buffers buffers_;
};

}  // namespace

// Each repeat measures all four, so that what disturbs the machine disturbs them alike: products alone; the
// collectives alone; the products while the collectives run; and how long both then took together.
Status probe_contention(const ProbeSession& session, const ProbeCase& probe) {
  constexpr int k_repeats = 7;
  const ModelGraph graph = k_linear.probe->graph(k_linear, DType::float32, probe.shape);
  Contention contention(*session.communicator(), graph, shape_number(probe, "bytes"));
  contention.count();  // warms up
  const int count = contention.count();
  std::vector<std::int64_t> compute_alone, collectives_alone, compute_beside, both;
  for (int repeat = 0; repeat < k_repeats; ++repeat) {
    session.barrier();
    compute_alone.push_back(std::llround(Contention::timed([&] { contention.compute(); })));
    session.barrier();
    std::vector<std::unique_ptr<Pending>> running;
    collectives_alone.push_back(std::llround(Contention::timed([&] {
      for (int i = 0; i < count; ++i) running.push_back(contention.gather());
      running.back()->wait();
    })));
    running.clear();
    session.barrier();
    const Nanoseconds start = monotonic_now();
    for (int i = 0; i < count; ++i) running.push_back(contention.gather());
    contention.compute();
    compute_beside.push_back((monotonic_now() - start).value);
    running.back()->wait();
    both.push_back((monotonic_now() - start).value);
  }
  const ProbeShape shape{{"bytes", contention.bytes()}, {"collectives", count}};
  SHARDLAB_CHECK_OK(session.emit("contention.compute_alone", shape, compute_alone));
  SHARDLAB_CHECK_OK(session.emit("contention.collectives_alone", shape, collectives_alone));
  SHARDLAB_CHECK_OK(session.emit("contention.compute_beside", shape, compute_beside));
  return session.emit("contention.both", shape, both);
}

}  // namespace shardlab
