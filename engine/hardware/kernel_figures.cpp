#include "engine/hardware/kernel_figures.h"

#include "engine/base/paths.h"

namespace shardlab {
namespace {

Result<TileFigures> read_tiles(FigureSources& provenance) {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("hardware/kernels/matmul.yaml"));
  SHARDLAB_TRY(Description file, Description::read(path));
  file.text("name");
  TileFigures tiles;
  tiles.rows = file.count("tiles", "rows");
  tiles.columns = file.count("tiles", "columns");
  tiles.small = file.count("tiles", "small");
  tiles.small_speed = file.figure("tiles", "small_speed");
  tiles.idle_tail = file.figure("tiles", "idle_tail");
  SHARDLAB_CHECK_OK(file.finish());
  provenance.insert(file.provenance().begin(), file.provenance().end());
  return tiles;
}

Result<AttentionFigures> read_attention(FigureSources& provenance) {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("hardware/kernels/attention.yaml"));
  SHARDLAB_TRY(Description file, Description::read(path));
  file.text("name");
  AttentionFigures attention;
  attention.narrow = file.figure("shape", "narrow");
  attention.forward = file.figure("shape", "forward");
  attention.flash3 = file.figure("speed", "flash3");
  SHARDLAB_CHECK_OK(file.finish());
  provenance.insert(file.provenance().begin(), file.provenance().end());
  return attention;
}

}  // namespace

Result<KernelFigures> read_kernel_figures() {
  KernelFigures figures;
  SHARDLAB_TRY(figures.tiles, read_tiles(figures.provenance));
  SHARDLAB_TRY(figures.attention, read_attention(figures.provenance));
  return figures;
}

}  // namespace shardlab
