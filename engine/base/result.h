// Errors as values.
//
// Every function that can fail for a reason outside the program returns Result<T>. An Error says where it
// happened, what is wrong and what to do about it; the command line prints it as `where: what (hint)`.
// Exceptions thrown by libraries are caught at the edge of the library and turned into an Error there.
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace shardlab {

// The exit code of the program follows from the kind (see exit_code).
enum class ErrorKind {
  bad_input,     // the user's file, option or data is wrong
  not_possible,  // this machine or build cannot do it; `hint` says what is missing
  run_failed,    // a real run started and did not finish
  internal,      // a defect of shardlab
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string where;  // file:line:column, option, instruction or function; may be empty
  std::string what;
  std::string hint;  // what to do; may be empty

  friend bool operator==(const Error&, const Error&) = default;
};

// 2 bad input, 3 not possible here, 4 run failed, 70 defect.
int exit_code(ErrorKind kind);

// `where: what (hint)`, leaving out what is empty.
std::string to_string(const Error& error);

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
tl::unexpected<Error> bad_input(std::string where, std::string what, std::string hint = {});
tl::unexpected<Error> not_possible(std::string where, std::string what, std::string hint = {});
tl::unexpected<Error> run_failed(std::string where, std::string what, std::string hint = {});
tl::unexpected<Error> internal_error(std::string where, std::string what, std::string hint = {});

}  // namespace shardlab

#define SHARDLAB_CONCAT_INNER(a, b) a##b
#define SHARDLAB_CONCAT(a, b) SHARDLAB_CONCAT_INNER(a, b)

// `SHARDLAB_TRY(auto value, expression)`: declares value from a Result, or returns its error from the
// enclosing function.
#define SHARDLAB_TRY(declaration, expression) \
  SHARDLAB_TRY_INNER(SHARDLAB_CONCAT(shardlab_result_, __LINE__), declaration, expression)
#define SHARDLAB_TRY_INNER(temporary, declaration, expression)           \
  auto temporary = (expression);                                         \
  if (!temporary) return ::shardlab::fail(std::move(temporary).error()); \
  declaration = *std::move(temporary)

// `SHARDLAB_CHECK_OK(expression)`: for Status, or a Result whose value is not needed.
#define SHARDLAB_CHECK_OK(expression)                              \
  do {                                                             \
    if (auto shardlab_status = (expression); !shardlab_status)     \
      return ::shardlab::fail(std::move(shardlab_status).error()); \
  } while (false)
