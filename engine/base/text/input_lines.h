// The lines of a file that somebody names, one after the other, in bounded memory.
#pragma once

#include <string>

#include "engine/base/input_file.h"

namespace shardlab {

class InputLines {
 public:
  // Errors of InputFile::open(), and bad_input for a file that is larger than its kind. A line has at most
  // `longest` bytes.
  static Result<InputLines> open(const std::filesystem::path& file, const FileKind& kind,
                                 std::size_t longest);

  // Whether there is another line, which is then `line`, without its end. bad_input for one that is longer
  // than lines may be, or that cannot be read (ErrorCode::unreadable).
  Result<bool> next(std::string& line);

  int number() const { return number_; }        // of that line, from 1
  bool was_ended() const { return is_ended_; }  // by a line feed, which the last line of a file may lack

 private:
  InputLines(InputFile file, std::string name, std::size_t longest);

  InputFile file_;
  std::string name_;
  std::size_t longest_;
  std::string piece_;  // of the file; from at_ to filled_ is not handed out yet
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  int number_ = 0;
  bool is_ended_ = false;
};

}  // namespace shardlab
