#include "engine/formats/profiler/trace_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/input_file.h"
#include "engine/base/units.h"

namespace shardlab {
namespace {

constexpr std::size_t k_piece_of_trace = std::size_t{1} << 20;
constexpr const char* k_record_again = "copy it again, or record it again";

// What zlib says; nothing where all is well.
std::optional<Error> failure_of(const std::filesystem::path& path, gzFile_s* file) {
  int code = Z_OK;
  const char* const text = gzerror(file, &code);
  const auto bad = [&](std::string what, const char* hint) {
    return Error{ErrorKind::bad_input, path.string(), std::move(what), hint};
  };
  if (code == Z_OK || code == Z_STREAM_END) return std::nullopt;
  if (code == Z_BUF_ERROR) return bad("ends before its packed content does", k_record_again);
  if (code == Z_ERRNO) return bad(std::strerror(errno), "");
  return bad(fmt::format("its packed content is damaged: {}", text), k_record_again);
}

}  // namespace

void TraceText::CloseFile::operator()(gzFile_s* file) const {
  gzclose(file);
}

TraceText::TraceText(std::unique_ptr<gzFile_s, CloseFile> file, std::filesystem::path path,
                     std::int64_t longest)
    : file_(std::move(file)), path_(std::move(path)), longest_(longest), piece_(k_piece_of_trace, '\0') {}

// zlib hands on what is not packed as it is.
Result<TraceText> TraceText::open(const std::filesystem::path& path, std::int64_t longest) {
  SHARDLAB_TRY(InputFile input, InputFile::open(path, "trace"));
  std::unique_ptr<gzFile_s, CloseFile> file(gzdopen(input.descriptor(), "rb"));
  if (!file) return bad_input(in_file(path.string()), "cannot be read: no memory for it");
  input.release();  // closed with `file`
  return TraceText(std::move(file), path, longest);
}

std::string_view TraceText::next() {
  if (is_at_end_ || error_) return {};
  const int count = gzread(file_.get(), piece_.data(), static_cast<unsigned>(piece_.size()));
  // Only at the end zlib tells of content that was cut off.
  if (count <= 0) error_ = failure_of(path_, file_.get());
  if (count <= 0) return is_at_end_ = !error_, std::string_view();
  size_ += count;
  if (size_ <= longest_) return std::string_view(piece_).substr(0, static_cast<std::size_t>(count));
  error_ = Error{ErrorKind::bad_input, path_.string(),
                 fmt::format("holds more than {}", to_string(Bytes{longest_})),
                 "record fewer steps, without stacks and shapes"};
  return {};
}

}  // namespace shardlab
