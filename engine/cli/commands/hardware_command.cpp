#include <fmt/format.h>

#include "engine/cli/command_list.h"
#include "engine/hardware/node.h"

namespace shardlab {
namespace {

class HardwareCommand final : public Command {
 public:
  std::string_view name() const override { return "hardware"; }
  std::string_view help() const override { return "GPUs and nodes whose figures ship with the program"; }
  void add_options(CLI::App&) override {}

  Result<int> run(CommandContext& context) override {
    Json gpus = Json::array(), nodes = Json::array();
    std::string text = fmt::format("{:<22} {:>10} {:>14} {:>16}\n", "GPU", "memory", "bandwidth", "bfloat16 dense");
    for (const std::string& name : gpu_names()) {
      SHARDLAB_TRY(const Gpu gpu, find_gpu(name));
      text += fmt::format("{:<22} {:>10} {:>9.0f} GB/s {:>16}\n", gpu.name, to_string(gpu.memory), gpu.memory_bandwidth.value / 1e9,
                          rate_text(gpu.peaks.bfloat16));
      gpus.push_back({{"name", gpu.name},
                      {"memory", gpu.memory.value},
                      {"memory_bandwidth", gpu.memory_bandwidth.value},
                      {"peak_bfloat16", gpu.peaks.bfloat16 ? Json(gpu.peaks.bfloat16->value) : Json()},
                      {"estimated_figures", estimated_figures(gpu.provenance)}});
    }
    text += fmt::format("\n{:<22} {:>4} {:<22} {:>16}\n", "node", "GPUs", "GPU", "network");
    for (const std::string& name : node_names()) {
      SHARDLAB_TRY(const Node node, find_node(name));
      text += fmt::format("{:<22} {:>4} {:<22} {:>11.0f} GB/s\n", node.name, node.gpus, node.gpu, node.network.value / 1e9);
      nodes.push_back({{"name", node.name},
                       {"gpu", node.gpu},
                       {"gpus", node.gpus},
                       {"network", node.network.value},
                       {"dollars_per_hour", node.dollars_per_hour ? Json(*node.dollars_per_hour) : Json()},
                       {"estimated_figures", estimated_figures(node.provenance)}});
    }
    context.console.print(text);
    if (context.console.json()) context.console.print_json({{"gpus", std::move(gpus)}, {"nodes", std::move(nodes)}});
    return k_exit_good;
  }

 private:
  static std::string rate_text(const std::optional<FlopsPerSecond>& rate) {
    return rate ? fmt::format("{:.0f} TFLOP/s", rate->value / 1e12) : "unknown";
  }
};

}  // namespace

std::unique_ptr<Command> make_hardware_command() { return std::make_unique<HardwareCommand>(); }

}  // namespace shardlab
