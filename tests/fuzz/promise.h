// What a reader promises besides not crashing: a broken promise ends the program, as a crash does.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "tests/fuzz/fuzz_target.h"

namespace shardlab::fuzz {

// Ends the program with these words unless the promise holds.
void promise(bool holds, std::string_view words);

// An error must be somebody else's: of the kind `internal` it says that shardlab itself is at fault. It must
// have words, and pass through JSON.
void check_error(const Error& error);

template <typename T>
Answer answer_of(const Result<T>& result) {
  if (result) return Answer::taken;
  check_error(result.error());
  return Answer::refused;
}

}  // namespace shardlab::fuzz
