#include "simulator/backtest/ranking_baselines.h"

#include <string_view>

namespace shardlab {
namespace {

// Figures of the data sheet: dense FLOP/s in bfloat16 (float16 of a V100) and bytes a second.
struct Board {
  std::string_view name;  // that its names begin with, the longer before the shorter
  double flops, bandwidth;
  double network;  // bytes a second and GPU between nodes, where the source does not say
};
constexpr Board k_boards[] = {{"A100", 312e12, 1.9e12, 25e9},     {"H100", 989e12, 3.3e12, 50e9},
                              {"H200", 989e12, 4.8e12, 50e9},     {"B200", 2250e12, 8e12, 50e9},
                              {"GB", 2500e12, 8e12, 50e9},        {"V100", 125e12, 0.9e12, 25e9},
                              {"MI300X", 1307e12, 5.3e12, 50e9},  {"RTX-4090", 165e12, 1e12, 25e9},
                              {"RTX-3090", 71e12, 0.94e12, 25e9}, {"RTX-A6000", 155e12, 0.77e12, 25e9}};
constexpr double k_inside_a_node = 200e9;

const Board* board_of(const PublishedRun& run) {
  for (const Board& board : k_boards)
    if (run.cell("gpu").starts_with(board.name)) return &board;
  return nullptr;
}

double checkpointing(const PublishedRun& run) {
  const std::string& cell = run.cell("activation_checkpointing");
  return cell == "full" ? 2 : cell == "selective" ? 1 : 0;
}

double parameters_of(const PublishedRun& run) {
  const double hidden = run.number("hidden").value_or(0);
  return run.number("n_params")
      .value_or(12 * run.number("n_layers").value_or(0) * hidden * hidden +
                run.number("vocab").value_or(50'000) * hidden);
}

double gathers_of(const PublishedRun& run) {
  const std::string& strategy = run.cell("strategy");
  const bool whole =
      strategy == "NO_SHARD" || strategy == "ZERO1" || strategy == "ZERO2" || strategy == "SHARD_GRAD_OP";
  return whole ? 2 : 3;
}

}  // namespace

std::array<double, 7> settings_order(const PublishedRun& run) {
  const std::string& offload = run.cell("cpu_offload");
  return {offload.empty() || offload == "none" ? 0.0 : 1.0,
          run.cell("fp8") == "yes" ? 0.0 : 1.0,
          run.cell("compile") == "yes" ? 0.0 : 1.0,
          checkpointing(run),
          -run.number("micro_batch_per_gpu").value_or(0),
          run.number("n_gpus").value_or(0),
          -run.number("grad_accum").value_or(1)};
}

std::optional<double> crude_rate(const PublishedRun& run) {
  const Board* const board = board_of(run);
  if (board == nullptr) return std::nullopt;
  const double parameters = parameters_of(run), layers = run.number("n_layers").value_or(0),
               sequence = run.number("seq_len").value_or(0), gpus = run.number("n_gpus").value_or(1);
  const double tokens = run.number("micro_batch_per_gpu").value_or(1) * sequence;
  const double steps = run.number("grad_accum").value_or(1);
  const double again = 1 + checkpointing(run) / 6;
  const double peak = board->flops * (run.cell("fp8") == "yes" ? 2 : 1) / 2;
  const double flops = 6 * parameters + 6 * layers * run.number("hidden").value_or(0) * sequence;
  const double compute = flops * (tokens + 500) * again / peak;
  const bool many_nodes = gpus > run.number("gpus_per_node").value_or(8);
  const auto stated = run.number("inter_node_gbps_per_gpu");
  const double wires = !many_nodes ? k_inside_a_node : stated ? *stated / 8 * 1e9 : board->network;
  const double bytes = 2 * parameters * gathers_of(run) * (gpus - 1) / gpus;
  const double communication = gpus > 1 ? bytes / wires + 3 * layers * 1e-6 * gpus : 0;
  const double update = 16 * parameters / gpus / board->bandwidth;
  return tokens * steps / (steps * (compute + communication) + update);
}

}  // namespace shardlab
