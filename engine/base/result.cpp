#include "engine/base/result.h"

namespace shardlab {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input: return 2;
    case ErrorKind::not_possible: return 3;
    case ErrorKind::run_failed: return 4;
    case ErrorKind::internal: break;
  }
  return 70;
}

std::string to_string(const Error& error) {
  std::string text = error.where.empty() ? error.what : error.where + ": " + error.what;
  if (!error.hint.empty()) text += " (" + error.hint + ")";
  return text;
}

namespace {
tl::unexpected<Error> make(ErrorKind kind, std::string where, std::string what, std::string hint) {
  return fail(Error{kind, std::move(where), std::move(what), std::move(hint)});
}
}  // namespace

tl::unexpected<Error> bad_input(std::string where, std::string what, std::string hint) {
  return make(ErrorKind::bad_input, std::move(where), std::move(what), std::move(hint));
}
tl::unexpected<Error> not_possible(std::string where, std::string what, std::string hint) {
  return make(ErrorKind::not_possible, std::move(where), std::move(what), std::move(hint));
}
tl::unexpected<Error> run_failed(std::string where, std::string what, std::string hint) {
  return make(ErrorKind::run_failed, std::move(where), std::move(what), std::move(hint));
}
tl::unexpected<Error> internal_error(std::string where, std::string what, std::string hint) {
  return make(ErrorKind::internal, std::move(where), std::move(what), std::move(hint));
}

}  // namespace shardlab
