// Steps and plans of thousands of instructions: few bytes, and back to the bit.
#include <SQLiteCpp/SQLiteCpp.h>

#include "engine/store/packed.h"
#include "engine/store/run_store.h"
#include "engine/store/schema.h"
#include "tests/catch.h"
#include "tests/hand_made_record.h"
#include "tests/long_step.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

RunRecord record_of(std::uint32_t instructions) {
  RunRecord run = hand_made_record("long", RunKind::predicted, 1);
  run.plan.steady = long_step_plan(instructions);
  const std::string hash = plan_hash(run.plan.steady);
  StepTrace step;
  step.step = 2;
  step.plan_hash = hash;
  step.ranks = {long_step_rank(instructions)};
  run.trace.warmup.clear();
  run.trace.steps = {step};
  run.summary.plan_hash = hash;
  run.summary.memory.reset();
  return run;
}

RunStore store_in(const TemporaryFolder& folder) {
  return RunStore::open(folder.path() / "runs.db", OpenMode::create).value();
}

std::int64_t count(const TemporaryFolder& folder, const std::string& what) {
  SQLite::Database db((folder.path() / "runs.db").string(), SQLite::OPEN_READONLY);
  return db.execAndGet("SELECT count(*) FROM " + what).getInt64();
}

}  // namespace

TEST_CASE("a large step is one value, a smaller one has rows") {
  for (const bool large : {false, true}) {
    const TemporaryFolder folder;
    RunStore store = store_in(folder);
    const RunRecord run = record_of(static_cast<std::uint32_t>(k_most_rows) + (large ? 1 : 0));
    const auto id = store.save(run);
    REQUIRE_OK(id);
    const auto back = store.load(*id);
    REQUIRE_OK(back);
    CHECK(back->plan.steady == run.plan.steady);
    CHECK(back->trace.steps[0].ranks[0].spans == run.trace.steps[0].ranks[0].spans);
    CHECK(back->trace.steps[0].ranks[0].memory == run.trace.steps[0].ranks[0].memory);
    CHECK(count(folder, "run_spans") == (large ? 0 : 4000));
    CHECK(count(folder, "memory") == (large ? 0 : 4000));
    CHECK(count(folder, "steps WHERE packed IS NOT NULL") == (large ? 1 : 0));
    CHECK(count(folder, "plans WHERE typeof(text) = 'blob'") == (large ? 1 : 0));
  }
}

TEST_CASE("numbers of any size are packed") {
  RankTrace trace;
  constexpr std::int64_t k_least = INT64_MIN, k_most = INT64_MAX;
  trace.spans = {{{0}, {k_least}, {k_most}, {0}, {-1}, true}, {{4294967295}, {k_most}, {k_least}, {1}, {2}}};
  MemorySample sample{{3}, {k_most}, {k_least}, {}, {}};
  sample.by_class[2] = {k_least};
  sample.elsewhere[2] = {k_least};
  sample.peak_elsewhere[2] = {k_most};
  sample.by_class_at_peak[2] = {k_most};
  trace.memory = {sample, {}};
  RankTrace back;
  unpack_trace(pack_trace(trace), back);
  CHECK(back.spans == trace.spans);
  CHECK(back.memory == trace.memory);
  CHECK(unpack_text(pack_text("")).empty());
}

TEST_CASE("a damaged value is refused, or it says the same") {
  const RankTrace trace = long_step_rank(50);
  const std::string good = pack_trace(trace);
  int same = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    RankTrace back;
    CHECK_THROWS_AS(unpack_trace(good.substr(0, i), back), SQLite::Exception);
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x55);
    try {
      unpack_trace(bad, back);
      ++same;  // the bits that fill zlib's last byte mean nothing
      CHECK(back.spans == trace.spans);
    } catch (const SQLite::Exception&) {
      continue;
    }
  }
  CHECK(same <= 1);
  RankTrace back;
  for (const char* content :
       {"", "parameter", "parameter telepathy\n", "parameter\n", "\n\x01", "\n\xfe\xff\xff\x7f"})
    CHECK_THROWS_AS(unpack_trace(pack_text(content), back), SQLite::Exception);
}

TEST_CASE("a damaged value is an error where its run is read") {
  const char* const statement =
      GENERATE("UPDATE steps SET packed = substr(packed, 1, 100)", "UPDATE steps SET packed = x'00'",
               "UPDATE plans SET text = substr(text, 1, 100) WHERE typeof(text) = 'blob'");
  const TemporaryFolder folder;
  RunStore store = store_in(folder);
  const auto id = store.save(record_of(5000));
  REQUIRE_OK(id);
  SQLite::Database((folder.path() / "runs.db").string(), SQLite::OPEN_READWRITE).exec(statement);
  const auto run = store.load(*id);
  INFO(statement);
  REQUIRE_FALSE(run);
  CHECK_FALSE(run.error().what.empty());
}
