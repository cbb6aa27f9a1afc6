// A search file, beside the scenario that it names.
#include "simulator/search/question/read_question.h"
#include "tests/fuzz/base_scenario.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {

Answer read_search_file(std::string_view bytes) {
  static const std::filesystem::path base = scratch_file("base.yaml", k_base_scenario);
  return answer_of(read_question(scratch_file("search.yaml", bytes)));
}

}  // namespace shardlab::fuzz
