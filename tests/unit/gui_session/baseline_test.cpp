#include "gui/view_model/baseline.h"
#include "gui/session/session.h"
#include "gui/view_model/run_titles.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::gui {
namespace {

constexpr const char* k_scenario = R"(name: tiny
model: {config: tiny-llama, sequence_length: 64}
cluster: {device: cpu, ranks: 2}
parallel: {strategy: fsdp2}
train: {micro_batch: 2}
)";

}  // namespace

TEST_CASE("every edit shows its effect against the baseline, until that is forgotten") {
  Session session;
  session.set_baseline();  // of nothing: nothing happens
  CHECK(session.baseline() == nullptr);
  session.open_text(k_scenario);
  session.settle();
  session.set_baseline();
  REQUIRE(session.baseline() != nullptr);
  CHECK_FALSE(session.left_baseline());
  CHECK(session.shown_runs().size() == 1);  // the prediction is the baseline

  session.set("train.micro_batch", "4");
  session.settle();
  REQUIRE(session.left_baseline());
  const auto shown = session.shown_runs();
  REQUIRE(shown.size() == 2);
  CHECK(shown[1] == session.baseline());
  const auto titles = view::titles_of(shown);
  CHECK(titles[0] == "tiny fsdp2, predicted (train.micro_batch 4)");
  CHECK(titles[1] == "baseline tiny fsdp2, predicted (train.micro_batch 2)");

  const RunSummary &before = session.baseline()->record.summary, &now = session.prediction()->summary();
  const view::DataTable table = view::baseline_table(*session.baseline(), *session.predicted_run());
  bool told = false;
  for (const view::Row& row : table.rows) {
    if (row.cells[0].text != "peak allocated") continue;
    told = true;
    CHECK(row.cells[1].number == static_cast<double>(before.memory->peak_allocated.value));
    CHECK(row.cells[2].number == static_cast<double>(now.memory->peak_allocated.value));
    CHECK(*row.cells[3].number > 0);
  }
  CHECK(told);
  CHECK_THAT(view::baseline_words(*session.baseline(), *session.predicted_run()),
             test::contains_text("peak +"));

  session.clear_baseline();
  CHECK(session.baseline() == nullptr);
  CHECK(session.shown_runs().size() == 1);
}

TEST_CASE("memory is explained once somebody asks, first without and then with what would lower it") {
  Session session;
  session.open_text(k_scenario);
  session.settle();
  CHECK(session.explained_memory().explained == nullptr);
  session.explain_memory();
  session.settle();
  REQUIRE(session.explained_memory().explained != nullptr);
  CHECK(session.explained_memory().whole);
  const auto before = session.explained_memory().explained;
  CHECK_FALSE(before->rows.empty());
  session.set("train.micro_batch", "4");
  session.settle();  // asked once, it is explained for every prediction
  REQUIRE(session.explained_memory().explained != nullptr);
  CHECK(session.explained_memory().explained != before);
  CHECK(session.explained_memory().revision == session.prediction()->revision);
}

}  // namespace shardlab::gui
