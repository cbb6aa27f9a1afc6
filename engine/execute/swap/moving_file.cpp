#include "engine/execute/swap/moving_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "engine/execute/machine.h"
#include "engine/execute/swap/drive_failure.h"

namespace shardlab {

MovingFile::MovingFile(std::shared_ptr<const SwapPlace> place, std::shared_ptr<SwapFile> file,
                       FileOrder order)
    : place_(std::move(place)), file_(std::move(file)), order_(order), checksum_(::XXH3_createState()) {
  if (!order_.is_write)
    is_here_.resize(static_cast<std::size_t>((file_->bytes + place_->block - 1) / place_->block));
}

Place MovingFile::place() const {
  return place_of_file(*place_, file_->name);
}

SwapHeader MovingFile::header() const {
  return {place_->run,    place_->rank,
          file_->name,    order_.is_write ? order_.step : file_->step.value_or(0),
          {file_->bytes}, ::XXH3_64bits_digest(checksum_.get())};
}

void MovingFile::fail_with(Error error) {
  if (status_) status_ = fail(std::move(error));
}

void MovingFile::begin() {
  if (has_begun_) return;
  has_begun_ = true;
  began_at_ = monotonic_now();
  if (auto status = open_file(); !status) return fail_with(std::move(status).error());
  if (!order_.is_write) return;
  file_->was_begun = true;
  file_->step.reset();
}

Status MovingFile::open_file() {
  if (!checksum_ || ::XXH3_64bits_reset(checksum_.get()) == XXH_ERROR)
    return fail(drive_error(place(), {ENOMEM, order_.is_write ? "written" : "read"}));
  if (!order_.is_write && !file_->step)
    return run_failed(place(), file_->was_begun ? "was not written to its end: its last write failed"
                                                : "has no data: it was never written");
  SHARDLAB_TRY(descriptor_, open_swap_file(*place_, *file_, order_.is_write));
  return {};
}

bool MovingFile::header_may_move() const {
  if (!order_.is_write) return true;
  return under_way_ == 0 && next_ == file_->bytes && hashed_ == file_->bytes;
}

std::optional<SwapPiece> MovingFile::next() {
  if (!status_) return std::nullopt;
  if (!header_begun_ && header_may_move()) {
    header_begun_ = true;
    ++under_way_;
    return SwapPiece{true, 0, k_swap_page};
  }
  if (next_ == file_->bytes) return std::nullopt;
  const SwapPiece piece{false, next_, std::min(place_->block, file_->bytes - next_)};
  next_ += piece.bytes;
  ++under_way_;
  return piece;
}

std::byte* MovingFile::memory_of(const SwapPiece& piece) const {
  if (piece.is_header || piece.bytes != piece.stored_bytes()) return nullptr;
  std::byte* const memory = order_.memory.data() + piece.begin;
  return is_page_aligned(memory) || !place_->is_direct ? memory : nullptr;
}

void MovingFile::fill(const SwapPiece& piece, std::byte* memory) const {
  if (piece.is_header) {
    const SwapPage page = encode_swap_header(header());
    std::copy(page.begin(), page.end(), memory);
    return;
  }
  std::memcpy(memory, order_.memory.data() + piece.begin, static_cast<std::size_t>(piece.bytes));
  std::memset(memory + piece.bytes, 0, static_cast<std::size_t>(piece.stored_bytes() - piece.bytes));
}

void MovingFile::returned(const SwapPiece& piece, const std::byte* memory) {
  --under_way_;
  if (order_.is_write || !status_) return;
  const auto bytes = static_cast<std::size_t>(piece.bytes);
  if (piece.is_header) {
    std::memcpy(read_header_.data(), memory, bytes);
    return;
  }
  if (std::byte* const target = order_.memory.data() + piece.begin; target != memory)
    std::memcpy(target, memory, bytes);
  is_here_[static_cast<std::size_t>(piece.begin / place_->block)] = true;
}

void MovingFile::failed(int number) {
  --under_way_;
  if (!status_) return;
  DriveFailure failure{number, order_.is_write ? "written" : "read"};
  if (order_.is_write) {
    failure.needed = {stored_bytes(file_->bytes)};
    failure.free = free_bytes(place_->folder);
  }
  fail_with(drive_error(place(), failure));
}

void MovingFile::was_cut_short(const SwapPiece& piece, std::int64_t moved) {
  --under_way_;
  if (!status_) return;
  const std::int64_t expected = stored_bytes(file_->bytes);
  const char* const what = order_.is_write ? "took {} bytes of {}, and then no more" : "holds {} bytes of {}";
  fail_with({ErrorKind::run_failed, place(),
             fmt::format(fmt::runtime(what), piece.offset() + moved, expected), k_start_again});
}

std::int64_t MovingFile::ready_for_checksum() const {
  if (order_.is_write) return next_;
  const auto block = static_cast<std::size_t>(hashed_ / place_->block);
  return block < is_here_.size() && is_here_[block] ? std::min(hashed_ + place_->block, file_->bytes)
                                                    : hashed_;
}

bool MovingFile::add_to_checksum() {
  const std::int64_t bytes = std::min(ready_for_checksum() - hashed_, place_->block);
  if (bytes == 0 || !status_) return false;
  ::XXH3_64bits_update(checksum_.get(), order_.memory.data() + hashed_, static_cast<std::size_t>(bytes));
  hashed_ += bytes;
  return true;
}

bool MovingFile::is_finished() const {
  if (under_way_ > 0) return false;
  return !status_ || (header_begun_ && next_ == file_->bytes && hashed_ == file_->bytes);
}

Status MovingFile::check_what_was_read() const {
  const DecodedSwapHeader found = decode_swap_header(read_header_);
  if (!found.header) return run_failed(place(), found.problem, k_start_again);
  const SwapHeader expected = header();
  if (const auto difference = swap_header_difference(*found.header, expected))
    return run_failed(place(), *difference, k_start_again);
  if (found.header->checksum == expected.checksum) return {};
  return unreadable(run_failed(place(), "its checksum differs: the drive or another program changed it",
                               "start the run again; where it happens twice ask the drive (smartctl -a, nvme "
                               "smart-log) and test the memory"));
}

void MovingFile::finish() noexcept {
  try {
    if (status_ && order_.is_write) file_->step = order_.step;
    if (status_ && !order_.is_write) status_ = check_what_was_read();
  } catch (...) {
    give_up();
  }
  descriptor_.close();
  completed_at_ = monotonic_now();
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
}

void MovingFile::give_up() noexcept {
  if (status_) status_ = fail(Error(ErrorKind::run_failed, {}, "no memory", {}));  // short texts are in place
}

void MovingFile::wait_until_over() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_over_; });
}

Status MovingFile::wait() {
  wait_until_over();
  return status_;
}

}  // namespace shardlab
