#include "engine/base/pickle/pickle_source.h"

#include <utility>

namespace shardlab {
namespace {

constexpr std::size_t k_piece = std::size_t{1} << 20U;

}  // namespace

Result<PickleSource> PickleSource::open(const std::filesystem::path& file, const FileKind& kind) {
  SHARDLAB_TRY(InputFile input, InputFile::open(file, kind.name));
  return PickleSource(std::move(input), in_file(file.string()), kind);
}

// A length that a file names is believed as far as there are bytes.
bool PickleSource::fetch(std::uint64_t bytes) {
  if (!file_ || failure_) return false;
  piece_.erase(0, at_);
  filled_ -= at_;
  before_ += std::exchange(at_, 0);
  while (filled_ < bytes)
    if (!read_on()) return false;
  return true;
}

bool PickleSource::read_on() {
  if (before_ + filled_ > 0 && file_->size() > kind_.most) {
    failure_ = larger_than_kind(where_, kind_).value();
    return false;
  }
  piece_.resize(filled_ + k_piece);
  const auto got = read_piece(*file_, std::span(piece_).subspan(filled_), where_);
  if (!got) failure_ = got.error();
  filled_ += got.value_or(0);
  return got.value_or(0) > 0;
}

}  // namespace shardlab
