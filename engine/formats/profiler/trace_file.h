// The text of a file that may be packed with gzip, piece by piece: a small file may hold a large text.
// Private to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"

struct gzFile_s;

namespace shardlab {

class TraceText {
 public:
  // Whether the file is packed is seen by its first bytes. A text has at most `longest` bytes. Errors of
  // InputFile::open().
  static Result<TraceText> open(const std::filesystem::path& file, std::int64_t longest);

  // What comes next, until the next call; empty at the end, and where it does not go on.
  std::string_view next();
  // Why it does not: bad_input for a text that is longer, cut off or damaged.
  const std::optional<Error>& error() const { return error_; }
  bool is_at_end() const { return is_at_end_; }
  std::int64_t size() const { return size_; }  // so far

 private:
  struct CloseFile {
    void operator()(gzFile_s* file) const;
  };

  TraceText(std::unique_ptr<gzFile_s, CloseFile> file, std::filesystem::path path, std::int64_t longest);

  std::unique_ptr<gzFile_s, CloseFile> file_;
  std::filesystem::path path_;
  std::int64_t longest_;
  std::string piece_;
  std::int64_t size_ = 0;
  bool is_at_end_ = false;
  std::optional<Error> error_;
};

// Its bytes one by one, as the library's reader takes them. Only one of several copies may be moved on.
class TraceIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TraceIterator() = default;  // the end of every text
  explicit TraceIterator(TraceText& text) : text_(&text), rest_(text.next()) {}

  reference operator*() const { return rest_.front(); }
  TraceIterator& operator++() {
    rest_.remove_prefix(1);
    if (rest_.empty()) rest_ = text_->next();
    return *this;
  }
  TraceIterator operator++(int) {
    const TraceIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const TraceIterator& a, const TraceIterator& b) {
    return a.rest_.empty() == b.rest_.empty();
  }

 private:
  TraceText* text_ = nullptr;
  std::string_view rest_;
};

}  // namespace shardlab
