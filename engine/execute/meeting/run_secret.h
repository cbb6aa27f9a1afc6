// The secret of a run, which whoever comes to its meeting must know. It stands in one file of the run's
// folder, which is this user's alone, and in no command line, log, message or database.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/execute/rank_environment.h"

namespace shardlab {

class RunSecret {
 public:
  static constexpr std::size_t k_shortest = 16, k_longest = 255;

  // 128 bits from the system, in hexadecimal. not_possible where the system has none.
  static Result<RunSecret> make();

  // A user's own: visible ASCII without spaces, from k_shortest to k_longest of them. bad_input otherwise,
  // whose place is `name`; the text itself is never shown.
  static Result<RunSecret> parse(std::string text, const std::string& name);

  // Takes as long wherever the first difference is.
  bool is(std::string_view text) const;

  // For whom it is meant: the meeting's file and its greeting.
  const std::string& reveal() const { return text_; }

 private:
  explicit RunSecret(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// SHARDLAB_RUN_SECRET, for runs whose folder is not private enough to hold one; nothing where it is not set.
// Errors of RunSecret::parse().
Result<std::optional<RunSecret>> secret_of_user(const EnvironmentVariables& variables);

}  // namespace shardlab
