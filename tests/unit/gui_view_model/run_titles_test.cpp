#include "gui/view_model/run_titles.h"

#include "engine/formats/profiler/import_profile.h"
#include "tests/catch.h"
#include "tests/unit/gui_view_model/loaded_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

LoadedRunPtr run_with(std::int64_t id, const std::string& settings, const std::string& name = "tiny") {
  LoadedRun run = loaded_run(id, RunKind::predicted);
  run.record.name = name;
  run.record.scenario_yaml =
      "model: {config: tiny-llama, sequence_length: 64}\ncluster: {device: cpu, ranks: 2}\n"
      "parallel: {strategy: fsdp2}\n" +
      settings;
  return shared_run(std::move(run));
}

}  // namespace

TEST_CASE("a run is called by its scenario, its strategy and what it is") {
  LoadedRun run = loaded_run(12, RunKind::measured);
  CHECK(title_of(run) == "r12 tiny fsdp2, measured");
  run.id.reset();
  CHECK(title_of(run) == "tiny fsdp2, measured");
  run.role = "baseline";
  CHECK(title_of(run) == "baseline tiny fsdp2, measured");
  run.role.clear();
  run.record.name = "llama3-8b-fsdp2-8xh100";  // says it already
  CHECK(title_of(run) == "llama3-8b-fsdp2-8xh100, measured");
  run.record.name = "cuda_rank0";
  run.record.plan.steady.strategy = k_imported_strategy;
  CHECK(title_of(run) == "cuda_rank0, measured");
}

TEST_CASE("runs of one scenario side by side say in which settings they differ") {
  const auto titles = titles_of({run_with(1, "train: {micro_batch: 4}\n"),
                                 run_with(2, "train: {micro_batch: 8, clip_norm: 1.0}\n"),
                                 run_with(3, "train: {micro_batch: 4}\n"), run_with(4, "", "another")});
  REQUIRE(titles.size() == 4);
  CHECK(titles[0] == "r1 tiny fsdp2, predicted (train.micro_batch 4, train.clip_norm not given)");
  CHECK(titles[1] == "r2 tiny fsdp2, predicted (train.micro_batch 8, train.clip_norm 1)");
  CHECK(titles[2] == "r3 tiny fsdp2, predicted");
  CHECK(titles[3] == "r4 another fsdp2, predicted");
  const auto many =
      titles_of({run_with(1, ""), run_with(2, "train: {micro_batch: 8, clip_norm: 1.0, accumulation: 2}\n")});
  CHECK(many[1].ends_with(" and 1 more)"));
}

TEST_CASE("a run that somebody names is called so, and is no reason to tell others apart") {
  LoadedRun named = loaded_run(1, RunKind::predicted);
  named.called = "by_size";
  CHECK(title_of(named) == "by_size");
  const auto titles = titles_of({shared_run(std::move(named)), run_with(2, "train: {micro_batch: 4}\n"),
                                 run_with(3, "train: {micro_batch: 8}\n", "another")});
  CHECK(titles[0] == "by_size");
  CHECK(titles[1] == "r2 tiny fsdp2, predicted");
}

TEST_CASE("an instruction's label is in words, with its name in the plan behind") {
  const LoadedRun run = loaded_run(1, RunKind::measured);
  CHECK(label_of(run, InstructionId{2}) == "backward of layer 0 (2 Backward s0 mb0)");
  CHECK(peak_label_of(run) == "backward of layer 0 (2 Backward s0 mb0)");
  LoadedRun ended = run;  // out of memory in its first step: the label is of another plan
  ended.record.summary.memory->peak_label = "700 Forward s9 mb0";
  CHECK(peak_label_of(ended) == "700 Forward s9 mb0");
  ended.record.summary.memory.reset();
  CHECK(peak_label_of(ended).empty());
}

TEST_CASE("the words of a copy are of the copy's own plan") {
  LoadedRun first = loaded_run(1, RunKind::measured);
  CHECK(first.words().instruction(InstructionId{0}) == "all-gather of layer 0");
  LoadedRun second = first;
  second.record.plan.steady.units[1].module_path = "model.layers.7";
  CHECK(second.words().instruction(InstructionId{0}) == "all-gather of layer 7");
  first = std::move(second);
  CHECK(first.words().instruction(InstructionId{0}) == "all-gather of layer 7");
}
