// A pickle as data: no class is imported, nothing is called.
#include "engine/base/pickle/pickle_reader.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_pickle_bytes(std::string_view bytes) {
  const Result<PickleTree> tree = read_pickle(std::string(bytes));
  if (!tree) return answer_of(tree);
  // One step below the root; an object may contain itself.
  for (const PickleValue item : tree->items(tree->root())) {
    (void)tree->kind(item);
    (void)tree->integer(item);
    (void)tree->text(item);
    (void)tree->items(item);
  }
  (void)tree->find(tree->root(), "segments");
  return Answer::taken;
}

}  // namespace shardlab::fuzz
