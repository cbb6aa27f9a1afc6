#include "engine/formats/logs/torchtitan_lines.h"

#include "engine/base/text/log_lines.h"
#include "engine/base/text/log_numbers.h"
#include "engine/formats/logs/line_numbers.h"

namespace shardlab {
namespace {

bool has(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

std::optional<LineFigures> of_step(std::string_view line) {
  const std::size_t at = line.find("step:");
  if (at == std::string_view::npos || line.substr(0, at).ends_with("validate ")) return std::nullopt;
  const std::string_view text = line.substr(at);
  const bool has_speed = has(text, "tps:") || has(text, "wps:");
  if (!has(text, "loss:") || (!has_speed && !has(text, "memory:"))) return std::nullopt;
  LineFigures figures{.kind = LineKind::torchtitan_step};
  figures.step = count_after(text, "step:");
  if (!figures.step) return std::nullopt;
  figures.loss = number_after(text, "loss:");
  figures.gradient_norm = number_after(text, "grad_norm:");
  figures.peak_reserved = size_after(text, " memory:");
  figures.tokens_per_second_of_rank = number_after(text, has(text, "tps:") ? "tps:" : "wps:");
  if (const auto percent = number_after(text, "mfu:")) figures.utilization = *percent / 100;
  figures.time = seconds(number_after(text, "end_to_end(s):"));
  figures.clock = clock_in(line);
  return figures;
}

// `Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]`: the product of the sizes.
std::optional<int> ranks_of_list(std::string_view sizes) {
  std::int64_t product = 1;
  while (!sizes.empty() && sizes.front() != ']') {
    const auto size = count_after(sizes, "");
    if (!size || *size < 1) return std::nullopt;
    product = saturated_product(product, *size);
    const std::size_t comma = sizes.find_first_of(",]");
    if (comma == std::string_view::npos) return std::nullopt;
    sizes.remove_prefix(comma + (sizes[comma] == ',' ? 1 : 0));
  }
  constexpr std::int64_t k_most = 1 << 20;
  return product <= k_most ? std::optional(static_cast<int>(product)) : std::nullopt;
}

// `Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=1, ep=1`. Experts (ep,
// etp) are spread over ranks that the others count.
std::optional<int> ranks_of_names(std::string_view text) {
  std::int64_t product = 1;
  for (const std::string_view name : {" pp=", "dp_replicate=", "dp_shard=", " cp=", " tp="}) {
    const std::int64_t size = count_after(text, name).value_or(1);
    product = saturated_product(product, size);
  }
  constexpr std::int64_t k_most = 1 << 20;
  return product >= 1 && product <= k_most ? std::optional(static_cast<int>(product)) : std::nullopt;
}

std::optional<LineFigures> of_start(std::string_view line) {
  LineFigures figures;
  constexpr std::string_view k_named = "device mesh with parallelism:", k_listed = "device mesh with [";
  if (const std::size_t at = line.find(k_named); at != std::string_view::npos) {
    figures.ranks = ranks_of_names(line.substr(at + k_named.size()));
    return figures;
  }
  if (const std::size_t at = line.find(k_listed); at != std::string_view::npos) {
    const std::size_t sizes = line.find("], [", at);
    if (sizes == std::string_view::npos) return std::nullopt;
    figures.ranks = ranks_of_list(line.substr(sizes + 4));
    return figures;
  }
  constexpr std::string_view k_capacity = " capacity: ", k_with = " with ";
  const std::size_t capacity = line.find(k_capacity);
  const std::size_t with = capacity == std::string_view::npos ? capacity : line.find(k_with, capacity);
  if (with == std::string_view::npos || !line.ends_with("memory")) return std::nullopt;
  const std::size_t name = capacity + k_capacity.size();
  figures.device = readable(line.substr(name, with - name), 60);
  figures.device_memory = size_after(line.substr(with), k_with);
  return figures;
}

}  // namespace

std::optional<LineFigures> torchtitan_figures(std::string_view line) {
  if (auto figures = of_step(line)) return figures;
  return of_start(line);
}

}  // namespace shardlab
