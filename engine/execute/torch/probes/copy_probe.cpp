// Times copies: within the memory a rank computes in, and over the link between a device and its host.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "engine/execute/torch/probes/probe_session.h"

namespace shardlab {

Status probe_copy(const ProbeSession& session, const ProbeCase& probe) {
  const std::int64_t bytes = shape_number(probe, "bytes");
  const bool over_link = probe.probe != "copy";
  if (over_link && session.backend() == nullptr) return {};  // there is no link
  const at::Tensor here = at::empty({bytes}, at::TensorOptions(at::kByte).device(session.device())).zero_();
  const at::Tensor there =
      over_link ? session.backend()->host_memory(bytes, at::kByte).zero_() : at::empty_like(here).zero_();
  const bool to_device = probe.probe != "copy.from_device";
  session.barrier();
  const auto samples = session.time([&](int) {
    if (to_device) {
      here.copy_(there, /*non_blocking=*/true);
    } else {
      there.copy_(here, /*non_blocking=*/true);
    }
  });
  return session.emit(probe.probe, {{"bytes", bytes}}, samples);
}

}  // namespace shardlab
