// A search file, beside the scenario that it names.
#include "simulator/search/question/read_question.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {
namespace {

constexpr std::string_view k_base =
    "name: base\nmodel: {config: llama-3-8b, sequence_length: 4096}\ncluster: {node: hgx-h100, nodes: 1}\n"
    "parallel: {strategy: fsdp2}\ntrain: {micro_batch: 1}\n";

}  // namespace

Answer read_search_file(std::string_view bytes) {
  static const std::filesystem::path base = scratch_file("base.yaml", k_base);
  return answer_of(read_question(scratch_file("search.yaml", bytes)));
}

}  // namespace shardlab::fuzz
