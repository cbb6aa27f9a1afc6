#include "engine/store/run_store.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"
#include "tests/hand_made_record.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

struct TestStore {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "runs.db";
  RunStore store = RunStore::open(file, OpenMode::create).value();
};

}  // namespace

TEST_CASE("a run reads back as it was saved") {
  TestStore db;
  const RunRecord saved = hand_made_record();
  const auto id = db.store.save(saved);
  REQUIRE_OK(id);
  const RunStore again = RunStore::open(db.file, OpenMode::existing).value();
  const auto loaded = again.load(*id);
  REQUIRE_OK(loaded);
  CHECK(loaded->name == saved.name);
  CHECK(loaded->created == saved.created);
  CHECK(loaded->scenario_yaml == saved.scenario_yaml);
  CHECK(loaded->plan.setup == saved.plan.setup);
  CHECK(loaded->plan.first == saved.plan.first);
  CHECK(loaded->plan.steady == saved.plan.steady);
  CHECK(loaded->trace.warmup == saved.trace.warmup);
  CHECK(loaded->trace.steps == saved.trace.steps);
  CHECK(loaded->trace.losses == saved.trace.losses);
  CHECK(loaded->trace.gradient_norms == saved.trace.gradient_norms);
  CHECK(loaded->trace.provenance.kind == RunKind::measured);
  CHECK(loaded->trace.provenance.machine == "2 x some processor");
  CHECK(loaded->trace.provenance.versions == saved.trace.provenance.versions);
  CHECK(loaded->trace.provenance.assumes == saved.trace.provenance.assumes);
  CHECK(loaded->trace.provenance.leaves_out == saved.trace.provenance.leaves_out);
  CHECK(loaded->summary == saved.summary);
  CHECK(loaded->tags == saved.tags);
  CHECK(loaded->note == saved.note);
}

TEST_CASE("what a run held in other memory reads back, space by space") {
  TestStore db;
  RunRecord saved = hand_made_record();
  std::vector<MemorySample>& samples = saved.trace.steps.front().ranks.front().memory;
  REQUIRE(samples.size() > 1);
  const auto pinned = static_cast<std::size_t>(MemorySpace::pinned_host);
  const auto disk = static_cast<std::size_t>(MemorySpace::disk);
  samples.front().elsewhere[pinned] = samples.front().peak_elsewhere[pinned] = Bytes{512};
  samples.back().peak_elsewhere[disk] = Bytes{4096};
  const auto id = db.store.save(saved);
  REQUIRE_OK(id);
  const auto loaded = db.store.load(*id);
  REQUIRE_OK(loaded);
  CHECK(loaded->trace.steps == saved.trace.steps);
}

TEST_CASE("the list says on what a run is, and with whose operators") {
  TestStore db;
  RunRecord run = hand_made_record();
  REQUIRE_OK(db.store.save(run));
  run.machine = "8 x H100-SXM (hgx-h100)";
  run.summary.implementation = Implementation::eager;
  REQUIRE_OK(db.store.save(run));
  const std::vector<RunEntry> entries = db.store.list().value();
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].machine == run.machine);
  CHECK(entries[0].implementation == Implementation::eager);
  CHECK(entries[1].machine.empty());
  CHECK_FALSE(entries[1].implementation);
  CHECK(db.store.load(entries[0].id)->machine == run.machine);
}

TEST_CASE("a scenario can be read alone") {
  TestStore db;
  RunRecord run = hand_made_record();
  run.scenario_yaml = "name: some\n";
  CHECK(db.store.load_scenario(db.store.save(run).value()).value() == "name: some\n");
  CHECK_THAT(to_string(db.store.load_scenario(RunId{9}).error()), contains_text("there is no run r9"));
}

TEST_CASE("numbers that are no numbers survive") {
  TestStore db;
  RunRecord run = hand_made_record();
  run.trace.losses = run.summary.losses = {4, std::nan(""), std::numeric_limits<double>::infinity()};
  run.trace.steps[0].ranks[0].loss = std::nan("");
  run.trace.steps[0].ranks[1].loss.reset();
  const RunRecord loaded = db.store.load(db.store.save(run).value()).value();
  REQUIRE(loaded.trace.losses.size() == 3);
  CHECK(std::isnan(loaded.trace.losses[1]));
  CHECK(std::isinf(loaded.trace.losses[2]));
  CHECK(std::isnan(loaded.trace.steps[0].ranks[0].loss.value()));
  CHECK_FALSE(loaded.trace.steps[0].ranks[1].loss.has_value());
}

TEST_CASE("the list is newest first and can be filtered") {
  TestStore db;
  const RunId first = db.store.save(hand_made_record("a", RunKind::predicted)).value();
  const RunId second = db.store.save(hand_made_record("a", RunKind::measured)).value();
  const RunId third = db.store.save(hand_made_record("b", RunKind::measured)).value();
  REQUIRE_OK(db.store.add_tag(third, "chosen"));
  const auto ids = [&](const RunFilter& filter) {
    std::vector<RunId> result;
    const std::vector<RunEntry> entries = db.store.list(filter).value();
    for (const RunEntry& entry : entries) result.push_back(entry.id);
    return result;
  };
  using Ids = std::vector<RunId>;
  CHECK(ids({}) == Ids{third, second, first});
  CHECK(ids({.limit = 2}) == Ids{third, second});
  CHECK(ids({.kind = RunKind::predicted}) == Ids{first});
  CHECK(ids({.name = "a"}) == Ids{second, first});
  CHECK(ids({.name = "A"}).empty());
  CHECK(ids({.tag = "chosen"}) == Ids{third});
  CHECK(ids({.plan_hash = plan_hash(hand_made_plan()).substr(0, 8)}).size() == 3);
  CHECK(ids({.plan_hash = "%"}).empty());
  const RunEntry entry = db.store.entry(third).value();
  CHECK(entry.name == "b");
  CHECK(entry.strategy == "fsdp2");
  CHECK(entry.ranks == 2);
  CHECK(entry.step_time == Nanoseconds{510});
  CHECK(entry.mfu == 0.25);
  CHECK(entry.peak_allocated == Bytes{200});
  CHECK(entry.fits == Fit::yes);
  CHECK(entry.last_loss == 3.0);
  CHECK(entry.tags == std::vector<std::string>{"base", "chosen", "kept"});
}

TEST_CASE("what people write finds a run") {
  TestStore db;
  CHECK_THAT(to_string(db.store.find("last").error()), contains_text("no run was stored yet"));
  const RunId first = db.store.save(hand_made_record("a")).value();
  const RunId second = db.store.save(hand_made_record("a")).value();
  const RunId third = db.store.save(hand_made_record("b")).value();
  CHECK(db.store.find("r1").value() == first);
  CHECK(db.store.find("2").value() == second);
  CHECK(db.store.find("a").value() == second);
  CHECK(db.store.find("last").value() == third);
  for (const char* reference : {"r4", "0", "-1", "c", "", "r1x"}) {
    CAPTURE(reference);
    const auto found = db.store.find(reference);
    REQUIRE_FALSE(found);
    CHECK(found.error().kind == ErrorKind::bad_input);
    CHECK_THAT(to_string(found.error()), contains_text("there is no run"));
  }
}

TEST_CASE("a plan is stored once") {
  TestStore db;
  REQUIRE_OK(db.store.save(hand_made_record("a")));
  const auto before = std::filesystem::file_size(db.file);
  RunRecord second = hand_made_record("b");
  second.trace.steps.resize(1);
  for (auto* steps : {&second.trace.steps, &second.trace.warmup}) {
    for (StepTrace& step : *steps) step.ranks.resize(1);
  }
  REQUIRE_OK(db.store.save(second));
  CHECK(std::filesystem::file_size(db.file) - before <= 8192);
  CHECK(db.store.load_plan(RunId{1}).value().steady == db.store.load_plan(RunId{2}).value().steady);
}

TEST_CASE("one step at a time") {
  TestStore db;
  const RunRecord run = hand_made_record();
  const RunId id = db.store.save(run).value();
  const auto headers = db.store.steps(id).value();
  REQUIRE(headers.size() == 4);
  CHECK(headers[0].warmup);
  CHECK(headers[0].plan_hash == plan_hash(run.plan.first));
  CHECK(headers[3].step == 3);
  CHECK_FALSE(headers[3].warmup);
  CHECK(headers[3].ranks == std::vector<int>{0, 1});
  CHECK(db.store.load_step(id, 2).value() == run.trace.steps[0]);
  CHECK_FALSE(db.store.load_step(id, 9).has_value());
  CHECK_FALSE(db.store.load_step(RunId{9}, 0).has_value());
  CHECK_FALSE(db.store.steps(RunId{9}).has_value());
}

TEST_CASE("a run that contradicts itself is refused and leaves nothing") {
  TestStore db;
  RunRecord run = hand_made_record();
  SECTION("a summary of another plan") {
    run.summary.plan_hash = "feed";
  }
  SECTION("a step of another plan") {
    run.trace.steps[1].plan_hash = "feed";
  }
  SECTION("a step twice") {
    run.trace.steps[1].step = 1;
  }
  SECTION("an instruction twice") {
    run.trace.steps[1].ranks[0].spans[1].instruction = {0};
  }
  SECTION("a tag that is none") {
    run.tags = {"a\nb"};
  }
  const auto id = db.store.save(run);
  REQUIRE_FALSE(id);
  CHECK(id.error().kind == ErrorKind::bad_input);
  CHECK(db.store.list().value().empty());
}

TEST_CASE("tags and notes") {
  TestStore db;
  const RunId id = db.store.save(hand_made_record()).value();
  REQUIRE_OK(db.store.add_tag(id, "base"));  // has it already
  REQUIRE_OK(db.store.remove_tag(id, "base"));
  CHECK(db.store.entry(id).value().tags == std::vector<std::string>{"kept"});
  CHECK_FALSE(db.store.remove_tag(id, "base").has_value());
  CHECK_FALSE(db.store.add_tag(id, "").has_value());
  CHECK_FALSE(db.store.add_tag(RunId{9}, "base").has_value());
  REQUIRE_OK(db.store.set_note(id, "it's \"quoted\"; DROP TABLE runs"));
  CHECK(db.store.entry(id).value().note == "it's \"quoted\"; DROP TABLE runs");
  CHECK_FALSE(db.store.set_note(RunId{9}, "x").has_value());
}

TEST_CASE("calibrations of machines") {
  TestStore db;
  CHECK_FALSE(db.store.latest_calibration("m").value().has_value());
  REQUIRE_OK(db.store.save_calibration({0, 5, "k1", "m", "old"}));
  REQUIRE_OK(db.store.save_calibration({0, 6, "k2", "m", "new"}));
  REQUIRE_OK(db.store.save_calibration({0, 0, "k3", "other", "elsewhere"}));
  CHECK(db.store.latest_calibration("m").value()->text == "new");
  CHECK(db.store.latest_calibration("m").value()->key == "k2");
  const auto all = db.store.calibrations().value();
  REQUIRE(all.size() == 3);
  CHECK(all[0].machine == "other");
  CHECK(all[0].created > 0);  // now
  CHECK(all[2].created == 5);
}

TEST_CASE("comparisons of runs") {
  TestStore db;
  const RunId a = db.store.save(hand_made_record("a", RunKind::predicted)).value();
  const RunId b = db.store.save(hand_made_record("a", RunKind::measured)).value();
  Comparison comparison;
  comparison.metrics = {
      {"step_time", MetricUnit::nanoseconds, 510, 500, 0.02, 0.1, Verdict::pass},
      {"mfu", MetricUnit::fraction, std::nullopt, 0.5, std::nullopt, std::nullopt, Verdict::not_judged}};
  comparison.verdict = Verdict::pass;
  REQUIRE_OK(db.store.save_comparison(a, b, comparison));
  for (const RunId id : {a, b}) {
    const auto entries = db.store.comparisons(id).value();
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].predicted == a);
    CHECK(entries[0].measured == b);
    CHECK(entries[0].verdict == Verdict::pass);
    CHECK(entries[0].metrics == comparison.metrics);
  }
  CHECK_FALSE(db.store.save_comparison(a, RunId{9}, comparison).has_value());
}
