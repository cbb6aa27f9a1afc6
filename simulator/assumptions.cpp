#include "simulator/assumptions.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/hardware/usual_network.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"
#include "engine/plan/transfers.h"
#include "engine/scenario/cluster_spec.h"

namespace shardlab {
namespace {

bool computes_in(const ModelGraph& graph, DType dtype) {
  return std::any_of(graph.operators.begin(), graph.operators.end(), [&](const Operator& op) {
    return op.type->category != OperatorCategory::memory_bound &&
           std::any_of(op.inputs.begin(), op.inputs.end(),
                       [&](TensorId id) { return graph.tensor(id).dtype == dtype; });
  });
}

// Equal products for all experts and no stated shares (model/operators/linear.cpp).
bool is_balanced(const ModelGraph& graph, const Operator& op) {
  return op.type == &k_grouped_linear && op.attributes.get_or(attribute::k_assumed_shares, 0) == 0 &&
         op.attributes.get_or(attribute::k_assumed_groups, 1) ==
             graph.parameter(op.parameters.front()).shape[0];
}

std::string estimates_of(const Device& device) {
  return device.kind == DeviceKind::cpu
             ? "figures of the processor are estimates (shardlab calibrate measures this machine)"
             : fmt::format("figures of {} are estimates: {}", device.name, fmt::join(device.estimates, ", "));
}

// "1.25 times the memory of a GPU, 2 times the network between nodes"; empty where nothing is supposed.
std::string supposed_text(const SupposedHardware& supposed) {
  std::vector<std::string> parts;
  const auto add = [&](double factor, const char* of) {
    if (factor != 1) parts.push_back(fmt::format("{:g} times the {}", factor, of));
  };
  add(supposed.memory, "memory of a GPU");
  add(supposed.inter_node, "network between nodes");
  add(supposed.intra_node, "links within a node");
  return fmt::format("{}", fmt::join(parts, ", "));
}

// The node whose network was taken, where the scenario names none.
std::optional<std::string> assumed_network(const ClusterSpec& cluster) {
  const bool open = !cluster.gpu.empty() && cluster.nodes > 1 && !cluster.inter_node_gbps_per_gpu;
  return open ? usual_node(cluster.gpu) : std::nullopt;
}

}  // namespace

namespace {

// Where a gradient from a drive lies among those of its sub-group. O_DIRECT takes whole sectors of a disk; a
// read by DeepSpeed 0.19.8 to another place was recorded to leave zeros and to report success.
std::int64_t misread_gradients(const StepPlan& plan) {
  constexpr std::int64_t k_sector = 512;
  return std::count_if(plan.instructions.begin(), plan.instructions.end(), [&](const Instruction& each) {
    if (!uses_drive(plan, each)) return false;
    const Buffer& to = plan.buffer(each.writes.front());
    return to.within && to.buffer_class == BufferClass::gradient_shard &&
           to.within->first * 4 % k_sector != 0;
  });
}

// Whether what DeepSpeed 0.19.8 quantises is in a dtype that its kernels, which read float16, take for that.
bool misreads_quantized(const StepPlan& plan) {
  return std::any_of(plan.instructions.begin(), plan.instructions.end(), [&](const Instruction& each) {
    if (each.kind != InstructionKind::Quantize) return false;
    const DType read = plan.buffer(each.reads.front()).dtype;
    return read == DType::bfloat16 || read == DType::float32;
  });
}

}  // namespace

std::vector<std::string> assumptions_of(const PlannedScenario& planned, const Device& device,
                                        bool calibrated) {
  const ModelGraph& graph = planned.graph;
  std::vector<std::string> assumptions;
  if (!calibrated && !device.estimates.empty()) assumptions.push_back(estimates_of(device));
  if (const std::string supposed = supposed_text(device.supposed); !supposed.empty())
    assumptions.push_back("hardware that there is not (cluster.suppose): " + supposed);
  if (const auto node = assumed_network(*planned.scenario.cluster)) {
    assumptions.push_back(
        fmt::format("between nodes a GPU has the network of {}, {:.0f} Gbit/s; "
                    "cluster.inter_node_gbps_per_gpu says another",
                    *node, device.wires.network_per_rank.value * 8 / 1e9));
  }
  if (device.devices_per_card > 1) {
    assumptions.push_back(
        fmt::format("a rank is one of the {} devices of an {} card; nodes count devices, not cards",
                    device.devices_per_card, device.name));
  }
  const bool emulated = device.kind == DeviceKind::gpu && !device.peaks.bfloat16;
  if (emulated && computes_in(graph, DType::bfloat16)) {
    assumptions.push_back(fmt::format(
        "{} has no bfloat16 units: products in bfloat16 run at its float32 rate; float16 is faster",
        device.name));
  }
  if (device.kind == DeviceKind::gpu && !transfers_of(planned.plan.steady).empty()) {
    assumptions.push_back(fmt::format(
        "ranks of a node copy and update at the same time: each has {} cores and {:.0f} GB/s of the host's "
        "memory (assets/hardware/host.yaml); its link is its own",
        device.host.cores, device.host.memory_bandwidth.value / 1e9));
  }
  const std::vector<Instruction>& steady = planned.plan.steady.instructions;
  const auto swaps = [&](const Instruction& each) { return uses_drive(planned.plan.steady, each); };
  if (std::any_of(steady.begin(), steady.end(), swaps)) {
    assumptions.push_back(
        fmt::format("ranks of a node swap at the same time: each has {:.2f} GB/s of what its drives read and "
                    "{:.2f} GB/s of "
                    "what they write; cluster.nvme.read and cluster.nvme.write say other rates of a node",
                    device.drive_read.value / 1e9, device.drive_write.value / 1e9));
  }
  if (const std::int64_t count = misread_gradients(planned.plan.steady); count > 0) {
    assumptions.push_back(
        fmt::format("DeepSpeed 0.19.8 reads {} gradients of a rank from the drive to places that are no "
                    "multiple of 512 bytes, "
                    "where a drive gives zeros and says nothing: it trains wrongly; other sizes or another "
                    "zero.sub_group_size avoid that",
                    count));
  }
  if (misreads_quantized(planned.plan.steady)) {
    assumptions.emplace_back(
        "DeepSpeed 0.19.8 takes gradients for float16 where it quantises them, whatever they are: it trains "
        "wrongly; zero.communication_data_type: fp16 avoids that");
  }
  if (const Bytes paged = carried_bytes(planned.plan.steady, MemorySpace::managed); paged.value > 0) {
    assumptions.push_back(fmt::format(
        "{} of a rank's optimizer state are on the device while there is room, in no figure of the "
        "allocator; what it costs to move them where there is none is not in the step's time",
        to_string(paged)));
  }
  const auto balanced = [&](const Operator& op) { return is_balanced(graph, op); };
  if (std::any_of(graph.operators.begin(), graph.operators.end(), balanced)) {
    assumptions.emplace_back(
        "tokens spread evenly over the experts; model.moe.load says otherwise where you know it");
  }
  return assumptions;
}

}  // namespace shardlab
