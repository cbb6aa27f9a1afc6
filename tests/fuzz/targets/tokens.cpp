// Tokens of a training: the first byte says which kind of file the others are.
#include <algorithm>

#include "engine/execute/token_file.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {

Answer read_token_file(std::string_view bytes) {
  if (bytes.empty()) return Answer::refused;
  const auto kind = static_cast<unsigned char>(bytes[0]);
  const std::string_view name = kind % 2 == 0 ? "tokens.txt" : "tokens.bin";
  const std::int64_t vocabulary = kind < 128 ? 50257 : 97;
  const auto file = TokenFile::open(scratch_file(name, bytes.substr(1)), vocabulary);
  if (!file) return answer_of(file);
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(file->size()));
  promise(file->copy(0, tokens).has_value(), "all tokens of a file can be copied");
  for (const std::int64_t token : tokens)
    promise(token >= 0 && token < vocabulary, "a token is of the vocabulary");
  return Answer::taken;
}

}  // namespace shardlab::fuzz
