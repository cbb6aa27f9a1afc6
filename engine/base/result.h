// Errors as values.
//
// Every function that can fail for a reason outside the program returns Result<T>. An Error says where it
// happened, what is wrong and what to do about it. Whoever shows errors turns them into text at the end
// (the functions below); nobody takes a text apart again: what a caller decides on is a field here.
// Exceptions thrown by libraries are caught at the edge of the library and turned into an Error there.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace shardlab {

// The exit code of the program follows from the kind (see exit_code).
enum class ErrorKind {
  bad_input,     // the user's file, option or data is wrong
  not_possible,  // this machine or build cannot do it; `hint` says what is missing
  run_failed,    // a real run started and did not finish
  internal,      // a defect of shardlab
};

// What some caller treats differently from other errors of its kind. Most errors have none.
enum class ErrorCode {
  none,
  no_database,     // there is no file of runs yet: the first run makes it
  failed_in_step,  // a rank failed while it executed an instruction of a plan
  no_eager_form,   // a model computes what no eager operator describes
  lost_peer,       // a rank met with others between instructions, and one did not come
  unreadable,      // a file or folder that is there cannot be read: of the machine, of no setting

  // Kinds of mistakes in files of other tools, of which somebody may know more than the file's reader.
  unsaid,               // needed, and said by none of the files
  no_counterpart,       // in order, but a scenario cannot say it
  unknown_key,          // the tool has no such key
  unread_key,           // people write it, and the tool does not read it
  number_is_text,       // 1e8, which YAML 1.1 takes for text
  batch_product,        // batch sizes that do not multiply
  sharding_ignored,     // another sharding runs than the file asks for
  one_unit,             // the whole model becomes one unit
  no_auto_wrap,         // likewise, as the word auto_wrap is missing
  wraps_nothing,        // likewise, as the least size of a unit is 0
  unknown_class,        // units of a class that the model does not have
  prefetch_left_out,    // and the tool's own default is none
  gathers_once_more,    // checkpoints outside the units
  no_effect,            // a section or key that something else switches off
  incomplete_launch,    // the ranks will not find each other
  inconsistent_launch,  // two places say another number of ranks
  too_few_devices,      // for the ranks of a machine
  another_format,       // than the tool reads
  no_direct_access,     // of devices to each other: a variable turns it off
  nothing_overlaps,     // as a variable makes the host wait for the device
};

// Where a problem lies: a place in a text, a rank of a run, the name of a thing, or several of them.
struct Place {
  std::string file;         // a file or folder, or the option that was read like one: `--set train.steps=8`
  int line = 0;             // from 1; 0: the file as a whole
  int column = 0;           // from 1, in bytes; 0: the line as a whole
  std::optional<int> rank;  // of a real run
  std::string name;         // an option, the dotted key of a setting, an instruction or a function

  Place() = default;
  // A thing by its name alone, so that errors are written as bad_input("--step", ...).
  Place(std::string thing) : name(std::move(thing)) {}  // NOLINT(google-explicit-constructor)
  Place(const char* thing) : name(thing) {}             // NOLINT(google-explicit-constructor)

  // Here and below these are defined once, in a source: inline, every function that can fail would hold them.
  Place(const Place&);
  Place(Place&&) noexcept;
  Place& operator=(const Place&);
  Place& operator=(Place&&) noexcept;
  ~Place();

  bool empty() const { return file.empty() && !rank && name.empty(); }
  friend bool operator==(const Place&, const Place&) = default;
};
Place in_file(std::string file, int line = 0, int column = 0);
Place on_rank(int rank, std::string name = {});
// The same place, of which the thing there is known as well.
Place named(Place place, std::string name);

struct Error {
  ErrorKind kind = ErrorKind::internal;
  Place place;  // may be empty
  std::string what;
  std::string hint;  // what to do; may be empty
  ErrorCode code = ErrorCode::none;
  std::vector<Error> parts;  // several problems found together; then the fields but for `kind` are empty

  Error();
  Error(ErrorKind of, Place at, std::string wrong, std::string help, ErrorCode decided_on = ErrorCode::none);
  Error(const Error&);
  Error(Error&&) noexcept;
  Error& operator=(const Error&);
  Error& operator=(Error&&) noexcept;
  ~Error();

  friend bool operator==(const Error&, const Error&) = default;
};

// 2 bad input, 3 not possible here, 4 run failed, 70 defect.
int exit_code(ErrorKind kind);

// Whether the error, or a part of it, is the machine's (unreadable): whoever tries settings and passes over
// those that are refused must not take it for a refusal.
bool is_of_the_machine(const Error& error);

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
tl::unexpected<Error> bad_input(Place place, std::string what, std::string hint = {});
tl::unexpected<Error> not_possible(Place place, std::string what, std::string hint = {});
tl::unexpected<Error> run_failed(Place place, std::string what, std::string hint = {});
// The same error as the machine's: `return unreadable(not_possible(place, "cannot be read: ..."));`
tl::unexpected<Error> unreadable(tl::unexpected<Error> error);
tl::unexpected<Error> internal_error(Place place, std::string what, std::string hint = {});

// The text of an error, as the terminal and `--json` show it.
//
// `file:line:column`, or `rank N, name`, or the name.
std::string where_text(const Error& error);
// What is wrong, led by the name of the thing when the place is one in a file: `train: unknown key 'x'`.
// Several problems are a line each, the first ten.
std::string what_text(const Error& error);
// `where: what`, leaving out what is empty.
std::string message_text(const Error& error);
// `where: what (hint)`, leaving out what is empty.
std::string to_string(const Error& error);
// `file:line:column: rank N, name`, leaving out what is not known.
std::string to_string(const Place& place);

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
