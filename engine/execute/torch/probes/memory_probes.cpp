// Times taking and giving back a tensor, booked as in a run.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/probes/probe_session.h"

namespace shardlab {

Status probe_allocation(const ProbeSession& session, const ProbeCase& probe) {
  constexpr int k_at_once = 200;  // one is shorter than the clock is exact
  const std::int64_t elements = shape_number(probe, "bytes") / 4;
  const MemoryLedger ledger;
  const LedgerScope booked(ledger);
  session.barrier();
  std::vector<std::int64_t> samples = session.time([&](int) {
    for (int i = 0; i < k_at_once; ++i) {
      const BufferClassScope scope(BufferClass::activation);
      const at::Tensor tensor = at::empty({elements});
    }
  });
  for (std::int64_t& sample : samples) sample /= k_at_once;
  return session.emit("host.allocation", {}, std::move(samples));
}

// Times copies: within the memory a rank computes in, and over the link between a device and its host.
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
