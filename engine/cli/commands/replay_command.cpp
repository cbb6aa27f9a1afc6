#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "engine/base/input_file.h"
#include "engine/base/parse.h"
#include "engine/cli/command.h"
#include "engine/report/figures.h"
#include "engine/report/text_table.h"
#include "simulator/memory/replay/replay.h"

namespace shardlab {
namespace {

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

Json outcome_json(const std::string& file, const ReplayOutcome& outcome) {
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
          {"statistics", statistics_json(outcome.statistics)}};
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

std::string outcome_text(const std::string& file, const ReplayOutcome& outcome, const TextStyle& style) {
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

class ReplayCommand final : public Command {
 public:
  std::string_view name() const override { return "replay"; }
  std::string_view help() const override {
    return "A recorded memory history under other allocator options or another limit";
  }
  std::string_view details() const override {
    return "FILE is what torch.cuda.memory._dump_snapshot() wrote (read as data, nothing in it is run), or\n"
           "{\"ops\": [[\"m\", \"a\", 1048576], [\"f\", \"a\"]]} (docs/allocator.md).\n"
           "TEXT is as in PYTORCH_ALLOC_CONF: expandable_segments:True, max_split_size_mb:128";
  }

  void add_options(OptionParser& parser) override {
    parser.value("file", file_, "The recording").type("FILE").required();
    conf_given_ = parser.value("--conf", conf_, "Options of the allocator [the recording's]").type("TEXT");
    parser.value("--limit", limit_, "What the device has for it: 79.2GiB [the recording's]").type("SIZE");
    device_given_ =
        parser.value("--device", device_, "Whose history, where a snapshot has several").not_negative();
  }

  Result<int> run(CommandContext& context) override {
    ReplaySettings settings;
    if (conf_given_.given()) settings.options = conf_;
    if (!limit_.empty()) {
      const auto limit = parse_bytes(limit_);
      if (!limit || limit->value <= 0)
        return bad_input("--limit", limit ? "no memory at all" : limit.error().what);
      settings.limit = *limit;
    }
    SHARDLAB_TRY(std::string content, read_input_file(file_, k_memory_history_file));
    auto recording =
        read_recording(std::move(content), device_given_.given() ? std::optional(device_) : std::nullopt);
    if (!recording) return fail(within(std::move(recording).error()));
    SHARDLAB_TRY(const ReplayOutcome outcome, replay(*recording, settings));
    if (context.console.json())
      context.console.print_json(outcome_json(file_, outcome));
    else
      context.console.print(outcome_text(file_, outcome, context.console.style()));
    return k_exit_good;
  }

 private:
  // What is wrong with the file has a place in it; what is wrong with an option has none.
  Error within(Error error) const {
    if (!error.place.name.starts_with("--")) error.place.file = file_;
    return error;
  }

  std::string file_, conf_, limit_;
  int device_ = 0;
  OptionHandle conf_given_, device_given_;
};

}  // namespace

std::unique_ptr<Command> make_replay_command() {
  return std::make_unique<ReplayCommand>();
}

}  // namespace shardlab
