#include "simulator/cost/explain_transfer.h"

#include <fmt/format.h>

#include "simulator/cost/formula_text.h"

namespace shardlab {
namespace {

std::string way_of(const TransferTime& time) {
  if (!time.choice) return fmt::format("sends and receives, {} channels", time.channels);
  return fmt::format("{}, protocol {}, {} channels", to_string(time.choice->algorithm),
                     to_string(time.choice->protocol), time.channels);
}

std::string where(const GroupShape& shape) {
  if (shape.nodes <= 1) return fmt::format("{} ranks of a node", shape.ranks);
  return fmt::format("{} ranks on {} nodes, {} rail{} into each", shape.ranks, shape.nodes, shape.fewest,
                     shape.fewest == 1 ? "" : "s");
}

CostBreakdown wire(std::string_view name, double bytes, double bandwidth) {
  const double nanoseconds = bandwidth > 0 ? bytes / bandwidth * 1e9 : 0;
  return {nanoseconds,
          std::string(name),
          fmt::format("{} a rank / {}", bytes_text(bytes), rate_text(BytesPerSecond{bandwidth})),
          {}};
}

}  // namespace

CostBreakdown explain_transfer(const Device& device, const GroupShape& shape, InstructionKind kind,
                               Bytes bytes, const TransferTime& time, double nanoseconds) {
  std::string formula = fmt::format("{} launch + {} latency", time_text(time.launch_us * 1000),
                                    time_text(time.latency_us * 1000));
  if (time.waits_us > 0) formula += fmt::format(" + {} between nodes", time_text(time.waits_us * 1000));
  formula += fmt::format(" + {} / {}", bytes_text(static_cast<double>(bytes.value)),
                         rate_text(BytesPerSecond{time.bandwidth * 1e9}));
  if (time.fill_us > 0) formula += fmt::format(" + {} filling", time_text(time.fill_us * 1000));
  const double predicted = time.total_us() * 1000;
  if (nanoseconds != predicted) formula += fmt::format(", times {:.3f} as measured", nanoseconds / predicted);
  CostBreakdown all{nanoseconds,
                    fmt::format("{} over {}: {}", to_string(kind), where(shape), way_of(time)),
                    std::move(formula),
                    {}};
  all.parts.push_back(wire(to_string(device.links), time.link_bytes, device.wires.ring.value));
  if (time.network_bytes > 0) {
    const double rail = device.wires.network_per_rank.value * device.wires.network_efficiency;
    all.parts.push_back(wire("network", time.network_bytes, rail));
  }
  return all;
}

}  // namespace shardlab
