#include "engine/machine/kernel_file.h"

#include <fstream>

namespace shardlab {

std::string kernel_file(const std::filesystem::path& file) {
  std::string text(std::size_t{1} << 20, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, stream.gcount())));
  return text;
}

}  // namespace shardlab
