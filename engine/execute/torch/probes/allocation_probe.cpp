// Times taking and giving back a tensor, booked as in a run.
#include <ATen/ops/empty.h>

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

}  // namespace shardlab
