#include "engine/checkpoint/checkpoint_file.h"
#include "engine/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace shardlab {

Result<std::shared_ptr<const CheckpointFile>> CheckpointFile::open(const std::filesystem::path& path) {
  SHARDLAB_TRY(InputFile input, InputFile::open(path, "file of weights"));
  const std::int64_t bytes = input.size();
  auto file = std::make_shared<CheckpointFile>(input.release(), path);
  file->bytes_ = bytes;
  return file;
}

CheckpointFile::~CheckpointFile() {
  ::close(descriptor_);
}

Status CheckpointFile::read(std::int64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const auto at = offset + static_cast<std::int64_t>(done);
    const ssize_t got = ::pread(descriptor_, into.data() + done, into.size() - done, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return bad_input(in_file(path_.string()), std::strerror(errno));
    if (got == 0) return bad_input(in_file(path_.string()), "the file became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace shardlab
