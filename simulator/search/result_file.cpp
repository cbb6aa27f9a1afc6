#include "simulator/search/result_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/folder.h"
#include "engine/base/output_file.h"
#include "engine/base/text/input_lines.h"
#include "engine/base/write_all.h"

namespace shardlab {

ResultFile::~ResultFile() {
  if (file_ >= 0) ::close(file_);
}

Status ResultFile::open(const std::filesystem::path& file) {
  SHARDLAB_CHECK_OK(replaceable_file(file));
  path_ = file;
  SHARDLAB_TRY(const bool has_results, is_there(file));
  if (has_results) SHARDLAB_CHECK_OK(read_kept());
  file_ = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0)
    return not_possible(in_file(file.string()),
                        std::string("results cannot be kept there: ") + std::strerror(errno),
                        "--results FILE names another place, --no-store keeps none");
  return {};
}

Status ResultFile::read_kept() {
  constexpr std::size_t k_longest_result = std::size_t{1} << 20;
  SHARDLAB_TRY(InputLines lines, InputLines::open(path_, k_result_file, k_longest_result));
  for (std::string line;;) {
    SHARDLAB_TRY(const bool is_line, lines.next(line));
    if (!is_line) return {};
    if (lines.number() == 1 && !may_be_outcome(line))
      return bad_input(in_file(path_.string()), "holds no results of a search, and is left as it is",
                       "--results FILE names another place, --no-store keeps none");
    ends_in_line_ = lines.was_ended();
    if (auto kept = parse_outcome(line))
      kept_.insert_or_assign(std::move(kept->key), std::move(kept->outcome));
  }
}

std::optional<Outcome> ResultFile::find(const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = kept_.find(key);
  return found == kept_.end() ? std::nullopt : std::optional(found->second);
}

Status ResultFile::add(const std::string& key, const Outcome& outcome) {
  const std::string line = outcome_text(key, outcome) + "\n";
  const std::scoped_lock lock(mutex_);
  kept_.insert_or_assign(key, outcome);
  if (file_ < 0) return {};
  // One write a line: O_APPEND keeps lines of several programs apart.
  const int failed = write_all(file_, ends_in_line_ ? line : "\n" + line);
  ends_in_line_ = failed == 0;
  if (failed == 0) return {};
  return run_failed(in_file(path_.string()),
                    std::string("a result could not be kept: ") + std::strerror(failed),
                    "--results FILE names another place, --no-store keeps none");
}

}  // namespace shardlab
