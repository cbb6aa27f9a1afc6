#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/command.h"
#include "engine/cli/run_bench.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

class BenchCommand final : public Command {
 public:
  std::string_view name() const override { return "bench"; }
  std::string_view help() const override {
    return "Measures products, attention, copies, collectives, and every pair of ranks";
  }
  std::string_view details() const override {
    return "Nothing is stored. A pair of ranks, or a rank, that is far slower than the others is named. "
           "With RANK and WORLD_SIZE set (torchrun, Slurm, mpirun) it is that one rank and joins the others.";
  }
  CommonUse uses() const override { return {.progress = true}; }

  void add_options(OptionParser& parser) override {
    parser.value("what", what_, "products, attention, copies, collectives, pairs [all]")
        .one_of({"products", "attention", "copies", "collectives", "pairs"});
    ranks_option_ = parser.value("--ranks", ranks_, "Processes on this machine [2]").range(1, 1024);
    parser.value("--cluster", cluster_, "The machine as in a scenario: '{gpu: H100-SXM, gpus_per_node: 8}'")
        .type("YAML");
    parser.value("--seconds", seconds_, "Start nothing new after so long [60]").range(1, 3600);
  }

  Result<int> run(CommandContext& context) override {
    if (!cluster_.empty() && ranks_option_.given())
      return bad_input("--cluster", "says how many ranks there are", "leave out --ranks");
    BenchRequest request;
    request.cluster = cluster_.empty() ? fmt::format("{{device: cpu, ranks: {}}}", ranks_) : cluster_;
    request.seconds = seconds_;
    if (!what_.empty()) request.selection = selection();
    SHARDLAB_TRY(const std::optional<BenchResult> result, run_bench(request, context.console));
    if (result) print(context.console, *result);
    return k_exit_good;
  }

 private:
  BenchSelection selection() const {
    const auto wanted = [&](const char* name) {
      return std::find(what_.begin(), what_.end(), name) != what_.end();
    };
    return {wanted("products"), wanted("attention"), wanted("copies"), wanted("collectives"),
            wanted("pairs")};
  }

  static void print(Console& console, const BenchResult& result) {
    const BenchReport report = make_bench_report(result.samples);
    if (!console.json()) {
      console.print(result.machine + "\n\n" + bench_table(report, console.style()));
      return;
    }
    Json json = {{"machine", result.machine}, {"versions", result.versions}, {"measurements", Json::array()}};
    for (const BenchRow& row : report.rows) {
      json["measurements"].push_back(
          {{"name", row.name},
           {"size", row.size},
           {"time_ns", row.time.value},
           {row.unit == BenchUnit::flops_per_second ? "flops_per_second" : "bytes_per_second", row.rate},
           {"bus_bytes_per_second", row.bus > 0 ? Json(row.bus) : Json()}});
    }
    json["pairs"] = Json::array();
    for (const PairLink& link : report.links) {
      json["pairs"].push_back({{"ranks", {link.first, link.second}},
                               {"latency_ns", link.latency.value},
                               {"bytes_per_second", link.bytes_per_second}});
    }
    json["findings"] =
        report.links.empty() ? Json::array() : Json(findings(diagnose_links(report.links), report.links));
    console.print_json(json);
  }

  std::vector<std::string> what_;
  int ranks_ = 2;
  int seconds_ = 60;
  std::string cluster_;
  OptionHandle ranks_option_;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() {
  return std::make_unique<BenchCommand>();
}

}  // namespace shardlab
