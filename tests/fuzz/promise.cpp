#include "tests/fuzz/promise.h"

#include <cstdio>
#include <cstdlib>

#include "engine/base/error_json.h"

namespace shardlab::fuzz {
namespace {

bool has_words(const Error& error) {
  if (error.parts.empty()) return !error.what.empty();
  for (const Error& part : error.parts)
    if (!has_words(part)) return false;
  return true;
}

}  // namespace

void promise(bool holds, std::string_view words) {
  if (holds) return;
  std::fprintf(stderr, "BROKEN PROMISE: %.*s\n", static_cast<int>(words.size()), words.data());
  std::abort();
}

void check_error(const Error& error) {
  if (std::getenv("SHARDLAB_SHOW") != nullptr) std::fprintf(stderr, "%s\n", message_text(error).c_str());
  promise(error.kind != ErrorKind::internal,
          "no input makes shardlab say that it is at fault: " + error.what);
  promise(has_words(error), "an error says what is wrong");
  const std::string json = error_json(error);
  promise(json.find('\n') == std::string::npos, "an error is one line of JSON");
  promise(error_json(parse_error_json(json)) == json, "an error passes through JSON");
}

}  // namespace shardlab::fuzz
