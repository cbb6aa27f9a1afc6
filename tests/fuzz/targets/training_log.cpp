// A log of another program's training, or the state that transformers' Trainer keeps, as a measured run.
#include <nlohmann/json.hpp>

#include "engine/formats/logs/measured_log.h"
#include "engine/formats/logs/read_training_log.h"
#include "engine/trace/run_summary_json.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {

Answer read_log_of_training(std::string_view bytes) {
  const auto file = scratch_file("train.log", bytes);
  (void)is_training_log(file);
  const auto log = read_training_log(file, 8);
  if (!log) return answer_of(log);
  const RunSummary run = summary_of(*log);
  promise(run.step_time.min <= run.step_time.median && run.step_time.median <= run.step_time.max,
          "the middle lies between the least and the most");
  promise(run.step_time.median.value >= 0 && run.step_time.n >= 0, "times are not negative");
  promise(parse_summary_json(summary_json(run).dump()).has_value(), "the figures of a log are read again");
  return Answer::taken;
}

}  // namespace shardlab::fuzz
