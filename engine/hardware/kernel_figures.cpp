#include "engine/hardware/kernel_figures.h"

#include "engine/base/paths.h"

namespace shardlab {
namespace {

Status read_products(TileFigures& tiles, HopperFigures& hopper, FigureSources& provenance) {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("hardware/kernels/matmul.yaml"));
  SHARDLAB_TRY(Description file, Description::read(path));
  file.text("name");
  tiles.rows = file.count("tiles", "rows");
  tiles.columns = file.count("tiles", "columns");
  tiles.small = file.count("tiles", "small");
  tiles.small_speed = file.figure("tiles", "small_speed");
  tiles.idle_tail = file.figure("tiles", "idle_tail");
  hopper.products = file.figure("hopper", "products");
  hopper.most = file.figure("hopper", "most");
  hopper.unaligned = file.figure("hopper", "unaligned");
  SHARDLAB_CHECK_OK(file.finish());
  provenance.insert(file.provenance().begin(), file.provenance().end());
  return {};
}

Result<AttentionFigures> read_attention(FigureSources& provenance) {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("hardware/kernels/attention.yaml"));
  SHARDLAB_TRY(Description file, Description::read(path));
  file.text("name");
  AttentionFigures attention;
  attention.narrow = file.figure("shape", "narrow");
  attention.forward = file.figure("shape", "forward");
  attention.cudnn = file.figure("speed", "cudnn");
  attention.efficient = file.figure("speed", "efficient");
  attention.cudnn_masked = file.figure("shape", "cudnn_masked");
  attention.flash3 = file.figure("speed", "flash3");
  SHARDLAB_CHECK_OK(file.finish());
  provenance.insert(file.provenance().begin(), file.provenance().end());
  return attention;
}

Result<OperatorSpeeds> read_operators(FigureSources& provenance) {
  SHARDLAB_TRY(const std::filesystem::path path, find_asset("hardware/kernels/memory_bound.yaml"));
  SHARDLAB_TRY(Description file, Description::read(path));
  file.text("name");
  OperatorSpeeds speeds{file.figures("forward"), file.figures("backward"), file.figures("forward_float32"),
                        file.figures("backward_float32"), file.figure("others", "speed")};
  SHARDLAB_CHECK_OK(file.finish());
  provenance.insert(file.provenance().begin(), file.provenance().end());
  return speeds;
}

}  // namespace

Result<KernelFigures> read_kernel_figures() {
  KernelFigures figures;
  SHARDLAB_CHECK_OK(read_products(figures.tiles, figures.hopper, figures.provenance));
  SHARDLAB_TRY(figures.attention, read_attention(figures.provenance));
  SHARDLAB_TRY(figures.operators, read_operators(figures.provenance));
  return figures;
}

}  // namespace shardlab
