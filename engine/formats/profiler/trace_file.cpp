#include "engine/formats/profiler/trace_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/base/input_file.h"
#include "engine/base/units.h"

namespace shardlab {
namespace {

struct CloseFile {
  void operator()(gzFile_s* file) const { gzclose(file); }
};
using File = std::unique_ptr<gzFile_s, CloseFile>;

constexpr const char* k_record_again = "copy it again, or record it again";

Error failed(const std::filesystem::path& path, gzFile_s* file) {
  int code = Z_OK;
  const char* const text = gzerror(file, &code);
  if (code == Z_BUF_ERROR)
    return {ErrorKind::bad_input, path.string(), "ends before its packed content does", k_record_again};
  if (code == Z_ERRNO) return {ErrorKind::bad_input, path.string(), std::strerror(errno), {}};
  return {ErrorKind::bad_input, path.string(), fmt::format("its packed content is damaged: {}", text),
          k_record_again};
}

}  // namespace

// zlib hands on what is not packed as it is.
Result<std::string> read_trace_file(const std::filesystem::path& path, std::int64_t longest) {
  SHARDLAB_TRY(InputFile input, InputFile::open(path, "trace"));
  const File file(gzdopen(input.descriptor(), "rb"));
  if (!file) return bad_input(in_file(path.string()), "cannot be read: no memory for it");
  input.release();  // closed with `file`
  std::string text;
  std::vector<char> part(1 << 20);
  while (true) {
    const int count = gzread(file.get(), part.data(), static_cast<unsigned>(part.size()));
    if (count < 0) return fail(failed(path, file.get()));
    if (count == 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (static_cast<std::int64_t>(text.size()) > longest)
      return bad_input(in_file(path.string()), fmt::format("holds more than {}", to_string(Bytes{longest})),
                       "record fewer steps, without stacks and shapes");
  }
  // Only now zlib tells of content that was cut off.
  int code = Z_OK;
  gzerror(file.get(), &code);
  if (code != Z_OK && code != Z_STREAM_END) return fail(failed(path, file.get()));
  return text;
}

}  // namespace shardlab
