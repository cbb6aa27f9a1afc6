// Times every pair of ranks alone, so that a slow link has a name. All others wait at a barrier meanwhile.
#include <ATen/ops/empty.h>

#include "engine/execute/torch/probes/probe_session.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_almost_nothing = 8;  // bytes
constexpr int k_repeats = 9;
constexpr int k_batch = 10;

Status probe_pair(const ProbeSession& session, int peer, std::int64_t bytes, int first, int second) {
  const auto options = at::TensorOptions(at::kByte).device(session.device());
  const at::Tensor sent = at::empty({bytes}, options).zero_();
  const at::Tensor received = at::empty({bytes}, options);
  const auto samples = session.time_together(
      k_repeats, k_batch, [&] { finish(session.communicator()->exchange(sent, received, peer)); });
  if (session.communicator()->rank() != first) return {};
  return session.emit("pair", {{"bytes", bytes}, {"first", first}, {"second", second}}, samples);
}

}  // namespace

Status probe_pairs(const ProbeSession& session, const ProbeCase& probe) {
  const std::int64_t bytes = shape_number(probe, "bytes");
  const int rank = session.communicator()->rank();
  for (int first = 0; first < session.ranks(); ++first) {
    for (int second = first + 1; second < session.ranks(); ++second) {
      for (const std::int64_t size : {k_almost_nothing, bytes}) {
        session.barrier();
        if (rank != first && rank != second) continue;
        SHARDLAB_CHECK_OK(probe_pair(session, rank == first ? second : first, size, first, second));
      }
    }
  }
  session.barrier();
  return {};
}

}  // namespace shardlab
