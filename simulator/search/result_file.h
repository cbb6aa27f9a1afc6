// What a search has simulated, in a file: a line of JSON each, written at once, so that a program that is
// killed loses none that it had finished. Threads may share it.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "simulator/search/outcome.h"

namespace shardlab {

class ResultFile {
 public:
  // Keeps nothing.
  ResultFile() = default;
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  // Reads what is there and is ready to add; a line that was cut short is passed over. Errors: bad_input for
  // what is no ordinary file, larger than results are, or begins as none does; not_possible where it cannot
  // be written.
  Status open(const std::filesystem::path& file);

  std::optional<Outcome> find(const std::string& key) const;
  // Errors: run_failed where nothing can be added any more.
  Status add(const std::string& key, const Outcome& outcome);

 private:
  Status read_kept();

  mutable std::mutex mutex_;
  std::filesystem::path path_;
  int file_ = -1;
  bool ends_in_line_ = true;  // else somebody was killed, or the disk was full: the next line begins anew
  std::map<std::string, Outcome> kept_;
};

}  // namespace shardlab
