#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/hardware/node.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

class HardwareCommand final : public Command {
 public:
  std::string_view name() const override { return "hardware"; }
  std::string_view help() const override { return "GPUs and nodes whose figures ship with the program"; }
  void add_options(OptionParser&) override {}

  Result<int> run(CommandContext& context) override {
    Json gpus = Json::array(), nodes = Json::array();
    TextTable gpu_table({{.title = "GPU", .align = Align::left},
                         {.title = "memory"},
                         {.title = "bandwidth"},
                         {.title = "bfloat16, dense"},
                         {.title = "$ an hour"}});
    for (const std::string& name : gpu_names()) {
      SHARDLAB_TRY(const Gpu gpu, find_gpu(name));
      gpu_table.add({gpu.name, to_string(gpu.memory), gigabytes_text(gpu.memory_bandwidth),
                     bfloat16_text(gpu), prices_text(gpu)});
      gpus.push_back({{"name", gpu.name},
                      {"memory", gpu.memory.value},
                      {"memory_bandwidth", gpu.memory_bandwidth.value},
                      {"peak_bfloat16", gpu.peaks.bfloat16 ? Json(gpu.peaks.bfloat16->value) : Json()},
                      {"dollars_per_hour_low", or_null(gpu.dollars_per_hour_low)},
                      {"dollars_per_hour_high", or_null(gpu.dollars_per_hour_high)},
                      {"estimated_figures", estimated_figures(gpu.provenance)}});
    }
    TextTable node_table({{.title = "node", .align = Align::left},
                          {.title = "GPUs"},
                          {.title = "GPU", .align = Align::left},
                          {.title = "network"},
                          {.title = "$ an hour"}});
    for (const std::string& name : node_names()) {
      SHARDLAB_TRY(const Node node, find_node(name));
      node_table.add({node.name, std::to_string(node.gpus), node.gpu,
                      node.network.value > 0 ? gigabytes_text(node.network) : "none",
                      node.dollars_per_hour ? fmt::format("{:.2f}", *node.dollars_per_hour) : "-"});
      nodes.push_back({{"name", node.name},
                       {"gpu", node.gpu},
                       {"gpus", node.gpus},
                       {"network", node.network.value},
                       {"dollars_per_hour", or_null(node.dollars_per_hour)},
                       {"estimated_figures", estimated_figures(node.provenance)}});
    }
    context.console.print(
        gpu_table.text(context.console.style()) + "\n" + node_table.text(context.console.style()) +
        "\nPrices of a GPU, and of a whole node on demand, age within weeks: assets/hardware says "
        "where each is from.\n");
    if (context.console.json())
      context.console.print_json({{"gpus", std::move(gpus)}, {"nodes", std::move(nodes)}});
    return k_exit_good;
  }

 private:
  static std::string gigabytes_text(BytesPerSecond rate) {
    constexpr double k_few = 20;
    const double gigabytes = rate.value / 1e9;
    return fmt::format(fmt::runtime(gigabytes < k_few ? "{:.1f} GB/s" : "{:.0f} GB/s"), gigabytes);
  }
  static Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }
  static std::string prices_text(const Gpu& gpu) {
    if (!gpu.dollars_per_hour_low || !gpu.dollars_per_hour_high) return "-";
    return fmt::format("{:.2f} to {:.2f}", *gpu.dollars_per_hour_low, *gpu.dollars_per_hour_high);
  }
  // Before Ampere GPUs have no products in bfloat16.
  static std::string bfloat16_text(const Gpu& gpu) {
    constexpr int k_ampere = 80;
    if (gpu.peaks.bfloat16) return fmt::format("{:.0f} TFLOP/s", gpu.peaks.bfloat16->value / 1e12);
    const int capability = cuda_capability(gpu);
    return capability > 0 && capability < k_ampere ? "none" : "unknown";
  }
};

}  // namespace

std::unique_ptr<Command> make_hardware_command() {
  return std::make_unique<HardwareCommand>();
}

}  // namespace shardlab
