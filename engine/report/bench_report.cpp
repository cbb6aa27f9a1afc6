#include "engine/report/bench_report.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "engine/model/operators/operator_list.h"
#include "engine/plan/probed_collective.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_latency_bytes =
    1024;  // exchanges below it say how long a message takes, not how wide a link is

std::int64_t number(const BenchSample& sample, const char* name) {
  const auto found = sample.shape.find(name);
  return found == sample.shape.end() ? 0 : found->second;
}

double per_second(double amount, std::int64_t ns) {
  return ns > 0 ? amount * 1e9 / static_cast<double>(ns) : 0;
}

std::optional<BenchRow> product_row(const BenchSample& s) {
  if (!s.name.starts_with("matmul.")) return std::nullopt;
  const std::int64_t m = number(s, "m"), n = number(s, "n"), k = number(s, "k");
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return BenchRow{"products",
                  s.name,
                  m == n && n == k ? fmt::format("{} cubed", m) : fmt::format("{} x {} x {}", m, n, k),
                  {s.time_ns},
                  per_second(flops, s.time_ns),
                  BenchUnit::flops_per_second,
                  0};
}

// Causal: half of the products. Backward does five of them where forward does two (FlashAttention-2,
// section 4.1).
std::optional<BenchRow> attention_row(const BenchSample& s) {
  if (!s.name.starts_with(std::string(k_attention.name) + '.')) return std::nullopt;
  const auto sequence = static_cast<double>(number(s, "sequence"));
  const double forward =
      4.0 * static_cast<double>(number(s, "batch") * number(s, "heads") * number(s, "head_dim")) * sequence *
      sequence / 2;
  const double flops = s.name.find(".backward.") != std::string::npos ? 2.5 * forward : forward;
  return BenchRow{
      "attention",
      s.name,
      fmt::format("{} x {}, {} tokens", number(s, "heads"), number(s, "head_dim"), number(s, "sequence")),
      {s.time_ns},
      per_second(flops, s.time_ns),
      BenchUnit::flops_per_second,
      0};
}

std::optional<BenchRow> copy_row(const BenchSample& s) {
  if (!s.name.starts_with("copy")) return std::nullopt;
  const std::int64_t bytes = number(s, "bytes");
  return BenchRow{"copies",
                  s.name,
                  to_string(Bytes{bytes}),
                  {s.time_ns},
                  per_second(static_cast<double>(bytes), s.time_ns),
                  BenchUnit::bytes_per_second,
                  0};
}

// Source of the factors: nccl-tests, doc/PERFORMANCE.md.
std::optional<BenchRow> collective_row(const BenchSample& s) {
  const auto collective = parse_word<ProbedCollective>(s.name);
  if (!collective) return std::nullopt;
  const bool twice = *collective == ProbedCollective::all_reduce;
  const auto ranks = static_cast<double>(number(s, "ranks"));
  const double rate = per_second(static_cast<double>(number(s, "bytes")), s.time_ns);
  const double factor = ranks > 0 ? (twice ? 2 : 1) * (ranks - 1) / ranks : 0;
  return BenchRow{"collectives", s.name, to_string(Bytes{number(s, "bytes")}),
                  {s.time_ns},   rate,   BenchUnit::bytes_per_second,
                  rate * factor};
}

void add_pair(const BenchSample& s, std::vector<PairLink>& links) {
  const int first = static_cast<int>(number(s, "first")), second = static_cast<int>(number(s, "second"));
  auto link = std::find_if(links.begin(), links.end(),
                           [&](const PairLink& l) { return l.first == first && l.second == second; });
  if (link == links.end()) link = links.insert(links.end(), {first, second, {}, 0});
  const std::int64_t bytes = number(s, "bytes");
  if (bytes < k_latency_bytes) {
    link->latency = {s.time_ns};
  } else {
    link->bytes_per_second = per_second(static_cast<double>(bytes), s.time_ns);
  }
}

// "1.23 TFLOP/s", "45.6 MB/s": the prefix that leaves one to three digits before the point.
std::string rate_text(double rate, BenchUnit unit) {
  constexpr const char* k_prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (rate >= 1000 && prefix + 1 < std::size(k_prefixes)) {
    rate /= 1000;
    ++prefix;
  }
  return fmt::format("{:.3g} {}{}/s", rate, k_prefixes[prefix],
                     unit == BenchUnit::flops_per_second ? "FLOP" : "B");
}

std::string rows_table(const std::vector<BenchRow>& rows, const TextStyle& style) {
  TextTable table({{.title = "measured", .align = Align::left, .elastic = true, .least = 30},
                   {.title = "size", .align = Align::left},
                   {.title = "time"},
                   {.title = "rate"},
                   {.title = "bus"}});
  std::string group;
  for (const BenchRow& row : rows) {
    if (row.group != group && !group.empty()) table.add({""});
    group = row.group;
    table.add({row.name, row.size, to_string(row.time), rate_text(row.rate, row.unit),
               row.bus > 0 ? rate_text(row.bus, row.unit) : ""});
  }
  return table.text(style);
}

std::string links_part(const std::vector<PairLink>& links, const TextStyle& style) {
  if (links.empty()) return "";
  TextTable table({{.title = "ranks", .align = Align::left}, {.title = "latency"}, {.title = "bandwidth"}});
  for (const PairLink& link : links) {
    table.add({fmt::format("{} - {}", link.first, link.second), to_string(link.latency),
               rate_text(link.bytes_per_second, BenchUnit::bytes_per_second)});
  }
  std::string text =
      "\npairs of ranks, each alone, both directions at once (the rate is of one)\n" + table.text(style);
  for (const std::string& finding : findings(diagnose_links(links), links)) text += finding + '\n';
  return text;
}

}  // namespace

BenchReport make_bench_report(const std::vector<BenchSample>& samples) {
  BenchReport report;
  for (const BenchSample& sample : samples) {
    if (sample.name == "pair") add_pair(sample, report.links);
    for (const auto row : {product_row, attention_row, copy_row, collective_row}) {
      if (auto made = row(sample)) report.rows.push_back(*std::move(made));
    }
  }
  return report;
}

std::string bench_table(const BenchReport& report, const TextStyle& style) {
  return (report.rows.empty() ? "" : rows_table(report.rows, style)) + links_part(report.links, style);
}

}  // namespace shardlab
