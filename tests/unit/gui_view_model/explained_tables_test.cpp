// Every number of every table says where it comes from, and a formula that can be done again gives the
// number.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/trace/metrics.h"
#include "gui/view_model/baseline.h"
#include "gui/view_model/hardware_list.h"
#include "gui/view_model/memory/alive_table.h"
#include "gui/view_model/memory/explained_tables.h"
#include "gui/view_model/memory/fit_view.h"
#include "gui/view_model/memory/memory_tables.h"
#include "gui/view_model/memory/space_tables.h"
#include "gui/view_model/model_list.h"
#include "gui/view_model/plan_list.h"
#include "gui/view_model/run_comparison.h"
#include "gui/view_model/run_list.h"
#include "gui/view_model/why.h"
#include "tests/unit/gui_view_model/real_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

// Numbers are shown as integers of nanoseconds and bytes, so a median of an even number is off by a half.
bool same_number(double a, double b) {
  return std::abs(a - b) <= std::max(1.0, std::abs(b)) * 1e-9 + (std::abs(b) > 10 ? 0.5 : 0.0);
}

std::string scenario_reference() {
  std::ostringstream text;
  text << std::ifstream(source_folder() / "docs/scenario.md").rdbuf();
  return text.str();
}

// A setting is a key, or a section of keys, that there is.
void check_settings(const Why& why) {
  static const std::string document = scenario_reference();
  for (const std::string& key : why.settings) {
    INFO(key);
    CHECK((document.find("`" + key + "`") != std::string::npos ||
           document.find("`" + key + ".") != std::string::npos));
  }
}

// Returns the columns of which at least one number was reckoned once more.
std::set<std::string> check_explained(const DataTable& table) {
  std::set<std::string> reckoned;
  CHECK_FALSE(table.rows.empty());
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const Column& its = table.columns[column];
    INFO(table.name << ": " << its.title);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (column >= table.rows[row].cells.size()) continue;
      const Cell& cell = table.rows[row].cells[column];
      const auto why = why_cell(table, row, column);
      if (!its.numeric) continue;
      INFO(table.rows[row].cells.front().text << ": " << cell.text);
      REQUIRE(why);
      CHECK_FALSE(why->title.empty());
      CHECK_FALSE(why->formula.empty());
      CHECK_FALSE(why->source.empty());
      check_settings(*why);
      if (why->arithmetic == Arithmetic::none || !cell.number) continue;
      const auto again = reckon(*why);
      if (!again) continue;  // an error against nothing
      INFO(*again << " is not " << *cell.number);
      CHECK(same_number(*again, *cell.number));
      reckoned.insert(its.title);
    }
  }
  return reckoned;
}

using Titles = std::set<std::string>;

RunEntry entry_of(const LoadedRun& run) {
  RunEntry entry;
  entry.id = *run.id;
  entry.kind = run.kind();
  entry.name = run.record.name;
  entry.plan_hash = run.record.summary.plan_hash;
  entry.step_time = run.record.summary.step_time.median;
  entry.peak_allocated = run.record.summary.memory->peak_allocated;
  return entry;
}

}  // namespace

TEST_CASE("fit: shares and totals can be done again") {
  const RealRuns runs = real_runs();
  const auto view = make_fit_view(*runs.predicted);
  REQUIRE(view);
  CHECK(check_explained(fit_table(*view, true)) ==
        Titles{"at the peak", "share", "forward", "backward", "optimizer"});
  CHECK(check_explained(fit_table(*view, false)) == Titles{"at the peak", "share"});
}

TEST_CASE("fit: lines up to the device add up, and what is left of its limit can be done again") {
  const RealRuns runs = real_runs("scenarios/first/llama3-8b-fsdp2-8xh100.yaml");
  const MemorySum sum = memory_sum(runs.predicted->record.summary);
  const DataTable table = memory_sum_table(sum);
  CHECK(check_explained(table) == Titles{"bytes"});
  REQUIRE(table.rows.size() == sum.lines.size() + 2);
  CHECK(table.rows[0].cells[0].text == "live tensors");
  CHECK(table.rows[sum.lines.size() - 1].cells[0].text == "in use on the device");
  CHECK(table.rows[sum.lines.size() - 1].cells[1].number ==
        static_cast<double>(runs.predicted->record.summary.memory->peak_device->value));
  const double limit = static_cast<double>(sum.limit->value), total = static_cast<double>(sum.total().value);
  CHECK(table.rows.back().cells[1].number == limit - total);
  CHECK(table.rows.back().cells[1].tone == CellTone::good);
  CHECK(memory_sum_table(MemorySum{}).rows.empty());
  const RealRuns on_processors = real_runs();
  CHECK(memory_sum_table(memory_sum(on_processors.predicted->record.summary)).rows.size() == 1);
}

TEST_CASE("fit: what other tools say, each with its source, or why it says nothing") {
  const RealRuns runs = real_runs("scenarios/first/llama3-8b-fsdp2-8xh100.yaml");
  const MemorySum sum = memory_sum(runs.predicted->record.summary);
  const std::vector<ToolAnswer> tools = other_tools(runs.planned);
  const DataTable table = other_tools_table(sum, tools);
  check_explained(table);
  REQUIRE(table.rows.size() == tools.size() + 1);
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const Row& row = table.rows[i + 1];
    CHECK(row.cells[0].text == tools[i].tool);
    CHECK(row.cells[1].number.has_value() == tools[i].bytes.has_value());
    CHECK(row.cells[2].text == tools[i].formula);
    CHECK(why_cell(table, i + 1, 1)->source == tools[i].source);
  }
  CHECK(other_tools_table(MemorySum{}, tools).rows.size() == tools.size());
  CHECK(why_cell(other_tools_table(MemorySum{}, tools), 0, 1)->source == tools[0].source);
}

TEST_CASE("fit: what the tensors are, what would lower them, and the phases of the job") {
  const RealRuns runs = real_runs("scenarios/first/llama3-8b-fsdp2-8xh100.yaml");
  const RunSummary& run = runs.predicted->record.summary;
  MemorySaving saving{.setting = "activation.checkpoint=full",
                      .effect = "computes layers again",
                      .peak_allocated = run.memory->peak_allocated - Bytes{4000},
                      .peak_device = *run.memory->peak_device - Bytes{5000},
                      .gain = Bytes{5000},
                      .step_time = run.step_time.median * 120 / 100,
                      .tokens_per_second = run.tokens_per_second / 1.2,
                      .fits = Fit::yes,
                      .shrinks = {}};
  const ExplainedMemory explained = explain_memory(runs.planned, runs.planned.plan.steady, run, {saving});
  const DataTable rows = memory_rows_table(explained);
  CHECK(check_explained(rows) == Titles{"bytes"});
  CHECK(rows.rows.size() == explained.rows.size() + 1);
  CHECK(rows.rows.back().cells[1].number == static_cast<double>(run.memory->peak_allocated.value));
  CHECK_THAT(rows.rows.front().cells[2].text, contains_text("tokens"));
  const DataTable savings = savings_table(explained);
  CHECK(check_explained(savings) == Titles{"gain", "step time", "tokens/s"});
  CHECK(savings.rows[0].cells[0].text == "activation.checkpoint=full");
  CHECK(savings.rows[0].cells[3].text == "+20.0 %");
  const DataTable life = life_table(run);
  check_explained(life);
  CHECK_FALSE(life.rows.empty());
  CHECK(life_table(real_runs().predicted->record.summary).rows.empty());  // of processors nobody predicts it
}

TEST_CASE("memory: the spaces of an offloading job, and what goes between them") {
  const RealRuns runs = real_runs("scenarios/offload/fsdp2-70b-8xh100.yaml");
  REQUIRE(leaves_the_device(*runs.predicted));
  check_explained(spaces_table(*runs.predicted));
  check_explained(transfers_table(*runs.predicted));
}

TEST_CASE("fit: what lies between a baseline and a prediction can be done again") {
  const RealRuns runs = real_runs();
  CHECK(check_explained(baseline_table(*runs.predicted, *runs.measured)) == Titles{"difference"});
}

TEST_CASE("memory: the size of every buffer that is alive, and every sample of the curve") {
  const RealRuns runs = real_runs();
  const auto lives = buffer_lives(runs.predicted->plan());
  for (const AliveForm form : {AliveForm::added_up, AliveForm::single}) {
    for (const std::uint32_t at : {0U, 20U, 40U})
      CHECK(check_explained(alive_table(runs.predicted, lives, InstructionId{at}, form)) == Titles{"size"});
    CHECK(check_explained(alive_table(runs.predicted, lives, {}, form)) == Titles{"size"});
  }
  for (const MemorySample& sample : runs.predicted->record.trace.steps[0].ranks[0].memory) {
    const Why why = why_memory(*runs.predicted, sample);
    CHECK_FALSE(why.source.empty());
    CHECK(reckon(why) == static_cast<double>(sample.peak.value));
  }
}

TEST_CASE("compare: totals, classes, kinds, units and the worst instructions") {
  const RealRuns runs = real_runs();
  const RunComparison comparison = compare_runs({runs.predicted, runs.measured}, 1);
  const Titles all = {"r1 tiny-llama fsdp2, predicted", "r2 tiny-llama fsdp2, measured", "error"};
  CHECK(check_explained(comparison.totals) == all);
  CHECK(check_explained(comparison.classes) == Titles{"error"});
  CHECK(check_explained(comparison.kinds) == all);
  CHECK(check_explained(comparison.units) == all);
  CHECK(check_explained(comparison.worst) == Titles{"this run", "reference", "difference", "error"});
  const RunComparison three = compare_runs({runs.predicted, runs.measured, runs.predicted}, 0);
  CHECK(check_explained(three.totals).count("error of r2 tiny-llama fsdp2, measured") == 1);
  CHECK(check_explained(three.worst) == Titles{"this run", "reference", "difference", "error"});
}

TEST_CASE("every metric of a run whose formula is arithmetic gives its figure again") {
  const RealRuns runs = real_runs();
  std::set<std::string> reckoned;
  for (const LoadedRunPtr& run : {runs.predicted, runs.measured}) {
    std::vector<Metric> metrics = summary_metrics(run->record.summary, run->record.summary, {});
    Metric per_rank;
    per_rank.name = "tokens_per_second_per_gpu";
    per_rank.predicted = run->record.summary.tokens_per_second_per_gpu;
    metrics.push_back(per_rank);
    for (const Metric& metric : metrics) {
      INFO(metric.name);
      const auto why = why_metric(*run, metric.name, &runs.planned);
      REQUIRE(why);
      check_settings(*why);
      if (why->arithmetic == Arithmetic::none) continue;
      REQUIRE(reckon(*why));
      CHECK(same_number(*reckon(*why), *metric.predicted));
      reckoned.insert(metric.name);
    }
  }
  for (const char* name : {"step_time", "exposed_communication", "tokens_per_second",
                           "tokens_per_second_per_gpu", "peak_allocated"})
    CHECK(reckoned.count(name) == 1);
}

TEST_CASE("a known peak of the device gives the share of it once more") {
  const RealRuns runs = real_runs("scenarios/first/llama3-8b-fsdp2-8xh100.yaml");
  const auto why = why_metric(*runs.predicted, "mfu", &runs.planned);
  REQUIRE(why);
  CHECK(*reckon(*why) == Approx(*runs.predicted->record.summary.mfu));
  CHECK_FALSE(reckon(*why_metric(*runs.predicted, "mfu")));  // without the scenario it is told in words
}

TEST_CASE("plan: bytes of collectives and what lives after each instruction") {
  const RealRuns runs = real_runs();
  for (const StepPlan* plan : runs.planned.plan.all()) {
    const DataTable table = plan_table(std::shared_ptr<const StepPlan>(std::shared_ptr<void>(), plan));
    CHECK(table.rows.size() == plan->instructions.size());
    const Titles reckoned = check_explained(table);
    CHECK(reckoned.count("live after") == 1);
    if (plan->phase != PlanPhase::steady) continue;
    CHECK(reckoned.count("bytes") == 1);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (!is_collective(plan->instructions[i].kind)) continue;
      INFO(instruction_label(*plan, make_id<InstructionId>(i)));
      CHECK(reckon(*why_cell(table, i, 5)));
    }
  }
}

TEST_CASE("runs and their trend") {
  const RealRuns runs = real_runs();
  const std::vector<RunEntry> entries = {entry_of(*runs.measured), entry_of(*runs.predicted)};
  check_explained(run_table(entries, {}));
  check_explained(trend_table(error_trend(entries, {})));
}

TEST_CASE("hardware: who says so, for every figure") {
  const HardwareList list = read_hardware();
  check_explained(list.gpus);
  check_explained(list.nodes);
  for (const DataTable* table : {&list.gpus, &list.nodes}) {
    for (std::size_t row = 0; row < table->rows.size(); ++row) {
      for (std::size_t column = 0; column < table->columns.size(); ++column) {
        if (!table->columns[column].numeric || !table->rows[row].cells[column].number) continue;
        const auto why = why_cell(*table, row, column);
        INFO(to_text(*why));
        REQUIRE(why->parts.size() == 2);
        CHECK(why->parts[1].label == "source");
        CHECK_FALSE(why->parts[1].value.empty());
      }
    }
  }
  const auto figures = figure_table(HardwareKind::gpu, list.gpu_names.front());
  REQUIRE_OK(figures);
  CHECK_THAT(to_text(*why_cell(*figures, 0, 1)), contains_text("source"));
}

TEST_CASE("models: parameters add up from their modules, in the list and at every module") {
  const ModelList list = read_models();
  CHECK(check_explained(list.table) == Titles{"parameters"});
  const auto check_below = [](const ModuleLine& line, const auto& self) -> void {
    const Why why = why_parameters(line);
    INFO(line.name << " " << line.class_name);
    CHECK_FALSE(why.source.empty());
    if (line.parameters > 0) CHECK(reckon(why) == static_cast<double>(line.parameters));
    for (const ModuleLine& child : line.children) self(child, self);
  };
  for (const ModelGraph& graph : list.graphs) check_below(module_tree(graph), check_below);
}

TEST_CASE("what is no cell, and text of which nothing is known, has no answer") {
  const RealRuns runs = real_runs();
  const auto table = fit_table(*make_fit_view(*runs.predicted), false);
  CHECK_FALSE(why_cell(table, 1000, 0));
  CHECK_FALSE(why_cell(table, 0, 1000));
  CHECK_FALSE(why_cell(table, 0, 0));
  CHECK_FALSE(metric_meaning("beauty"));
}

TEST_CASE("arithmetic that cannot be done is not done") {
  Why why;
  CHECK_FALSE(reckon(why));
  why.arithmetic = Arithmetic::quotient;
  why.parts = {{"a", "1", {}, 1.0}};
  CHECK_FALSE(reckon(why));
  why.parts.push_back({"b", "0", {}, 0.0});
  CHECK_FALSE(reckon(why));
  why.parts[1].number = 4.0;
  CHECK(reckon(why) == 0.25);
  why.arithmetic = Arithmetic::error;
  CHECK(reckon(why) == -0.75);
  why.arithmetic = Arithmetic::difference;
  CHECK(reckon(why) == -3);
  why.arithmetic = Arithmetic::product;
  CHECK(reckon(why) == 4);
  why.arithmetic = Arithmetic::median;
  CHECK(reckon(why) == 2.5);
  why.parts.push_back({"told only", "9"});
  CHECK(reckon(why) == 2.5);
}
