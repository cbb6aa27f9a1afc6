#include "engine/cli/replay/replay_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/report/figures.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_origins = 15;

Json stat_json(const AllocatorStat& stat) {
  return {
      {"current", stat.current}, {"peak", stat.peak}, {"allocated", stat.allocated}, {"freed", stat.freed}};
}

Json statistics_json(const AllocatorStatistics& statistics) {
  Json json = Json::object();
  for_each_pool_stat(statistics, [&](const char* name, const PoolStats& stats) {
    json[name] = stat_json(stats.all);
    json[name]["small_pool"] = stat_json(stats.small_pool);
    json[name]["large_pool"] = stat_json(stats.large_pool);
  });
  for_each_oversize_stat(statistics,
                         [&](const char* name, const AllocatorStat& stat) { json[name] = stat_json(stat); });
  for_each_count(statistics, [&](const char* name, std::int64_t count) { json[name] = count; });
  return json;
}

std::string limit_text(const ReplayOutcome& outcome) {
  switch (outcome.limit_source) {
    case LimitSource::given: return "--limit";
    case LimitSource::stated: return "the file's";
    case LimitSource::failure: return "reserved and free when an allocation failed in the recording";
    case LimitSource::releases: return "the most that explains when cached memory was released";
    case LimitSource::none: break;
  }
  return "no device refuses: --limit sets one";
}

Json at_peak_json(const LiveBlocks& live) {
  Json origins = Json::array();
  for (std::size_t i = 0; i < live.by_origin.size() && i < k_most_origins; ++i) {
    const BlocksOfOrigin& each = live.by_origin[i];
    origins.push_back({{"where", each.where}, {"bytes", each.bytes.value}, {"blocks", each.blocks}});
  }
  return {{"operation", live.operation},
          {"bytes", live.bytes.value},
          {"blocks", live.blocks},
          {"origins", live.by_origin.size()},
          {"by_origin", std::move(origins)}};
}

std::string bytes_table(const AllocatorStatistics& s, const TextStyle& style) {
  TextTable table({{"", Align::left}, {"peak"}, {"at the end"}, {"", Align::left, true}}, "  ");
  const auto row = [&](const char* name, const PoolStats& stats, const char* meaning) {
    table.add({name,
               to_string(Bytes{stats.all.peak}),
               to_string(Bytes{stats.all.current}),
               {meaning, Tone::faint}});
  };
  row("requested", s.requested_bytes, "what active blocks were asked for");
  row("allocated", s.allocated_bytes, "blocks with the program");
  row("active", s.active_bytes, "and freed ones still in use");
  row("reserved", s.reserved_bytes, "taken from the device");
  row("inactive split", s.inactive_split_bytes, "free parts of segments in use");
  return table.text(style);
}

std::string failures_text(const ReplayOutcome& outcome) {
  if (outcome.failures.empty()) return fmt::format("{}", outcome.statistics.num_ooms);
  const FailedAllocation& first = outcome.failures.front();
  const std::string where = first.operation == 0 ? std::string("before the recording")
                                                 : fmt::format("operation {}", first.operation);
  return fmt::format("{}  the first: {}, {}", outcome.statistics.num_ooms, where, to_string(first.wanted));
}

// Who asked for what the program had when that was most; nothing where the file knows no stacks.
std::string peak_text(const LiveBlocks& live, const TextStyle& style) {
  if (live.by_origin.empty()) return {};
  TextTable table({{"bytes"}, {"blocks"}, {"asked for by", Align::left, true, 40}}, "  ");
  for (std::size_t i = 0; i < live.by_origin.size() && i < k_most_origins; ++i) {
    const BlocksOfOrigin& each = live.by_origin[i];
    table.add({to_string(each.bytes), grouped(each.blocks),
               each.where.empty() ? TableCell("no stack was noted", Tone::faint) : TableCell(each.where)});
  }
  const std::size_t more = live.by_origin.size() - std::min(live.by_origin.size(), k_most_origins);
  return fmt::format(
      "\nat the peak, after operation {}: {} in {}, by the innermost frame outside torch\n{}{}",
      live.operation, to_string(live.bytes), counted(live.blocks, "block"), table.text(style),
      more == 0 ? "" : fmt::format("  and {}\n", counted(static_cast<std::int64_t>(more), "other place")));
}

}  // namespace

Json replay_json(const std::string& file, const ReplayOutcome& outcome) {
  Json failures = Json::array();
  for (const FailedAllocation& each : outcome.failures)
    failures.push_back({{"operation", each.operation}, {"bytes", each.wanted.value}});
  return {{"file", file},
          {"operations", outcome.operations},
          {"options", outcome.options},
          {"limit", outcome.limit ? Json(outcome.limit->value) : Json(nullptr)},
          {"limit_source", to_string(outcome.limit_source)},
          {"fragmentation", outcome.fragmentation()},
          {"reserved_in_vain", outcome.reserved_in_vain.value},
          {"out_of_memory", std::move(failures)},
          {"recorded_failures", outcome.recorded_failures},
          {"recorded_now_possible", outcome.recorded_now_possible},
          {"before_the_recording",
           {{"allocations", outcome.earlier_blocks}, {"bytes", outcome.earlier_bytes.value}}},
          {"at_peak", at_peak_json(outcome.at_peak)},
          {"statistics", statistics_json(outcome.statistics)}};
}

std::string replay_text(const std::string& file, const ReplayOutcome& outcome, const TextStyle& style) {
  const AllocatorStatistics& s = outcome.statistics;
  std::string text = fmt::format("{} operations of {}\n", outcome.operations, file);
  text += fmt::format("  options            {}\n",
                      outcome.options.empty() ? "torch's defaults" : outcome.options);
  text += fmt::format("  limit              {} ({})\n\n", outcome.limit ? to_string(*outcome.limit) : "none",
                      limit_text(outcome));
  text += bytes_table(s, style);
  text += fmt::format(
      "\n  fragmentation      {:.1f} %  of the highest reserved memory was above the highest active\n",
      100 * outcome.fragmentation());
  text += fmt::format("  reserved in vain   {}  the most at one time that no active block had\n",
                      to_string(outcome.reserved_in_vain));
  text += fmt::format("  retries            {}\n", s.num_alloc_retries);
  text += fmt::format("  out of memory      {}\n", failures_text(outcome));
  text += fmt::format("  device             {}, {}\n", counted(s.num_device_alloc, "allocation"),
                      counted(s.num_device_free, "release"));
  text += peak_text(outcome.at_peak, style);
  if (outcome.recorded_now_possible > 0)
    text += fmt::format(
        "\nof {} that failed in the recording {} would not have failed; what the program did with them is "
        "unknown\n",
        counted(outcome.recorded_failures, "allocation"), outcome.recorded_now_possible);
  if (outcome.earlier_blocks > 0)
    text += fmt::format(
        "\n{} ({}) older than the recording: placed anew at its start, so that segments may lie elsewhere "
        "than in the run\n",
        counted(outcome.earlier_blocks, "allocation"), to_string(outcome.earlier_bytes));
  return text;
}

}  // namespace shardlab
