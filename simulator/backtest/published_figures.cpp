#include "simulator/backtest/published_figures.h"

#include <array>
#include <string_view>

namespace shardlab {
namespace {

constexpr double k_bytes_per_gib = 1024.0 * 1024.0 * 1024.0;
constexpr const char* k_allocated_column = "peak_memory_allocated_gib";
constexpr const char* k_reserved_column = "peak_memory_reserved_gib";
constexpr const char* k_tokens_per_second = "tokens_per_second_per_gpu";

struct MemoryKind {
  std::string_view word;  // of memory_kind
  const char* kind;
  const char* figure;
  const char* column;
};

// A word of two kinds has two rows.
constexpr std::array<MemoryKind, 9> k_memory_kinds = {{
    {"allocated", "allocated", "peak_allocated", k_allocated_column},
    {"allocated+reserved", "allocated", "peak_allocated", k_allocated_column},
    {"allocated+reserved", "reserved", "peak_reserved", k_reserved_column},
    {"active", "active", "peak_active", k_allocated_column},
    {"active+reserved", "active", "peak_active", k_allocated_column},
    {"active+reserved", "reserved", "peak_reserved", k_reserved_column},
    {"reserved", "reserved", "peak_reserved", k_reserved_column},
    {"nvidia_smi", "driver", "peak_device", k_reserved_column},
    {"unspecified", "unspecified", "peak_reserved", k_reserved_column},
}};

std::optional<double> figure_of(std::optional<Bytes> bytes) {
  return bytes ? std::optional(static_cast<double>(bytes->value)) : std::nullopt;
}

std::optional<double> tokens_per_second(const PublishedRun& run) {
  if (const auto printed = run.number("tokens_per_s_per_gpu")) return printed;
  const auto micro_batch = run.number("micro_batch_per_gpu");
  const auto tokens = run.number("seq_len");
  const auto seconds = run.number("step_time_s");
  if (!micro_batch || !tokens || !seconds) return std::nullopt;
  return *micro_batch * run.number("grad_accum").value_or(1) * *tokens / *seconds;
}

std::vector<PublishedFigure> memory_figures(const PublishedRun& run) {
  std::vector<PublishedFigure> figures;
  for (const MemoryKind& each : k_memory_kinds) {
    const auto gib = run.number(each.column);
    if (each.word == run.cell("memory_kind") && gib)
      figures.push_back({each.figure, each.kind, *gib * k_bytes_per_gib});
  }
  return figures;
}

}  // namespace

std::vector<PublishedFigure> published_figures(const PublishedRun& run, BacktestMetric metric) {
  // What was in use when a run failed is no peak of a step.
  if (run.ran_out_of_memory()) return {};
  if (metric == BacktestMetric::memory) return memory_figures(run);
  if (const auto rate = tokens_per_second(run)) return {{k_tokens_per_second, "tokens/s", *rate}};
  return {};
}

std::optional<double> predicted_figure(const RunSummary& summary, const std::string& figure) {
  if (figure == k_tokens_per_second) return summary.tokens_per_second_per_gpu;
  if (!summary.memory) return std::nullopt;
  if (figure == "peak_allocated") return figure_of(summary.memory->peak_allocated);
  if (figure == "peak_active") return figure_of(summary.memory->peak_active);
  if (figure == "peak_reserved") return figure_of(summary.memory->peak_reserved);
  if (figure == "peak_device") return figure_of(summary.memory->peak_device);
  return std::nullopt;
}

}  // namespace shardlab
