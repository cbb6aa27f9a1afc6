#include "engine/report/fit_margin.h"

namespace shardlab {

Bytes fit_margin(Bytes peak, int ranks) {
  constexpr Bytes k_context = mebibytes(512);
  constexpr Bytes k_communication{1'556'925'644};
  constexpr double k_fragmentation = 0.09;
  const Bytes fragmentation{static_cast<std::int64_t>(static_cast<double>(peak.value) * k_fragmentation)};
  return k_context + (ranks > 1 ? k_communication : Bytes{}) + fragmentation;
}

}  // namespace shardlab
