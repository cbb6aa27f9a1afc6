#include "engine/hardware/network_figures.h"

#include "engine/base/paths.h"

namespace shardlab {
namespace {

constexpr std::size_t k_hopper = static_cast<std::size_t>(NcclGeneration::hopper);
constexpr std::size_t k_blackwell = static_cast<std::size_t>(NcclGeneration::blackwell);

Result<CollectiveFigures> read_collectives() {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("network/collectives.yaml"));
  SHARDLAB_TRY(Description file, Description::read(path));
  file.text("name");
  CollectiveFigures figures;
  for (const auto& word : k_words<NcclGeneration>)
    figures.launch_us[static_cast<std::size_t>(word.value)] = file.figure("launch_us", word.text);
  figures.ring_efficiency = file.figure("ring", "efficiency");
  figures.ring_fill_us = file.figure("ring", "fill_us");
  figures.nvls_efficiency[k_hopper] = file.figure("nvls", "efficiency_hopper");
  figures.nvls_efficiency[k_blackwell] = file.figure("nvls", "efficiency_blackwell");
  figures.nvls_fill_us[k_hopper] = file.figure("nvls", "fill_us_hopper");
  figures.nvls_fill_us[k_blackwell] = file.figure("nvls", "fill_us_blackwell");
  figures.doubling_us = file.figure("network", "doubling_us");
  figures.doubling_from = {static_cast<std::int64_t>(file.figure("network", "doubling_from"))};
  figures.all_to_all_efficiency = file.figure("all_to_all", "efficiency");
  figures.peer_us = file.figure("all_to_all", "peer_us");
  figures.memory_passes = file.figure("sharing", "memory_passes");
  figures.overlap_loss = file.figure("sharing", "overlap_loss");
  figures.most_channels = file.figure("sharing", "most_channels");
  SHARDLAB_CHECK_OK(file.finish());
  figures.provenance = file.provenance();
  return figures;
}

}  // namespace

Result<NetworkFigures> read_network_figures() {
  NetworkFigures figures;
  SHARDLAB_TRY(figures.nccl, read_nccl_tuning());
  SHARDLAB_TRY(figures.collectives, read_collectives());
  return figures;
}

}  // namespace shardlab
