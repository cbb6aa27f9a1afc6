// record.json of a training program that shardlab wrote.
#include "engine/formats/record/training_record.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {

Answer read_record_file(std::string_view bytes) {
  const auto record = read_training_record(scratch_file("record.json", bytes));
  if (!record) return answer_of(record);
  promise(!measured_steps(*record).empty(), "a record has steps that were measured");
  return Answer::taken;
}

}  // namespace shardlab::fuzz
