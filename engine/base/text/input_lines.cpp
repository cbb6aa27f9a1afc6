#include "engine/base/text/input_lines.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "engine/base/units.h"

namespace shardlab {
namespace {

constexpr std::size_t k_piece_of_lines = std::size_t{64} << 10;

}  // namespace

InputLines::InputLines(InputFile file, std::string name, std::size_t longest)
    : file_(std::move(file)), name_(std::move(name)), longest_(longest), piece_(k_piece_of_lines, '\0') {}

Result<InputLines> InputLines::open(const std::filesystem::path& file, const FileKind& kind,
                                    std::size_t longest) {
  SHARDLAB_TRY(InputFile input, InputFile::open(file, kind.name));
  if (input.size() > kind.most) return larger_than_kind(in_file(file.string()), kind);
  return InputLines(std::move(input), file.string(), longest);
}

Result<bool> InputLines::next(std::string& line) {
  line.clear();
  is_ended_ = false;
  ++number_;
  while (!is_ended_) {
    if (at_ == filled_) {
      at_ = 0;
      SHARDLAB_TRY(filled_, read_piece(file_, piece_, in_file(name_)));
      if (filled_ == 0) return !line.empty();
    }
    const std::string_view rest = std::string_view(piece_).substr(at_, filled_ - at_);
    const std::string_view part = rest.substr(0, rest.find('\n'));
    if (part.size() > longest_ - line.size()) {
      return bad_input(
          in_file(name_, number_),
          fmt::format("is a line of more than {}", to_string(Bytes{static_cast<std::int64_t>(longest_)})));
    }
    line += part;
    is_ended_ = part.size() < rest.size();
    at_ += part.size() + (is_ended_ ? 1 : 0);
  }
  return true;
}

}  // namespace shardlab
