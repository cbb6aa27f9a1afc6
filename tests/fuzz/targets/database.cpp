// A database whose pages anybody may have written: brought up to date, listed, every run loaded.
#include <filesystem>

#include "engine/store/run_store.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {
namespace {

template <typename T>
void look(const Result<T>& result) {
  if (!result) check_error(result.error());
}

void look_at_run(const RunStore& store, RunId id) {
  look(store.entry(id));
  look(store.load_summary(id));
  look(store.load_plan(id));
  look(store.load(id));
  look(store.comparisons(id));
  const auto steps = store.steps(id);
  look(steps);
  if (!steps) return;
  for (std::size_t i = 0; i < steps->size() && i < 4; ++i) look(store.load_step(id, (*steps)[i].step));
}

}  // namespace

Answer read_database(std::string_view bytes) {
  const std::filesystem::path file = scratch_file("input.db", bytes);
  for (const char* const beside : {"input.db-journal", "input.db-wal", "input.db-shm"})
    std::filesystem::remove(scratch_folder() / beside);
  const auto store = RunStore::open(file, OpenMode::existing, std::chrono::milliseconds{0});
  if (!store) return answer_of(store);
  const auto runs = store->list();
  look(runs);
  if (runs)
    for (std::size_t i = 0; i < runs->size() && i < 4; ++i) look_at_run(*store, (*runs)[i].id);
  look(store->find("last"));
  look(store->calibrations());
  look(store->latest_backtest(BacktestMetric::memory));
  look(store->lesson_answers());
  look(store->lesson_progress());
  return answer_of(runs);
}

}  // namespace shardlab::fuzz
