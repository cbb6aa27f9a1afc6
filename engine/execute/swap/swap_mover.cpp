#include "engine/execute/swap/swap_mover.h"

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace shardlab {
namespace {

constexpr int k_most_tries = 1000;  // of a block that the kernel puts off, a millisecond each
constexpr auto k_pause_of_try = std::chrono::milliseconds(1);
constexpr std::size_t k_files_a_slot = 2;  // open at once: while one is compared another may move

}  // namespace

SwapMover::SwapMover(std::unique_ptr<SwapEngine> engine, int depth, bool is_direct)
    : engine_(std::move(engine)), is_direct_(is_direct), slots_(static_cast<std::size_t>(depth)) {
  for (int i = depth; i-- > 0;) free_slots_.push_back(i);
  moving_.reserve(slots_.size() * k_files_a_slot);
  thread_ = std::thread([this] { run(); });
}

SwapMover::~SwapMover() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  ordered_.notify_all();
  thread_.join();
}

void SwapMover::begin(std::shared_ptr<MovingFile> file) {
  {
    const std::lock_guard lock(mutex_);
    ordered_files_.push_back(std::move(file));
  }
  ordered_.notify_all();
}

std::optional<std::string> SwapMover::register_memory(std::span<std::byte> memory) {
  Registration registration{memory, {}, false};
  std::unique_lock lock(mutex_);
  registrations_.push_back(&registration);
  ordered_.notify_all();
  registered_.wait(lock, [&] { return registration.is_done; });
  return std::move(registration.refusal);
}

void SwapMover::run() {
  while (take_orders()) {
    try {
      go_on();
    } catch (...) {
      for (const auto& file : moving_) file->give_up();
    }
  }
}

bool SwapMover::is_moving(const SwapFile* file) const {
  return std::any_of(moving_.begin(), moving_.end(),
                     [&](const std::shared_ptr<MovingFile>& moving) { return moving->file() == file; });
}

// Sleeps while there is nothing to do; false when there will be nothing any more.
bool SwapMover::take_orders() {
  std::unique_lock lock(mutex_);
  if (moving_.empty())
    ordered_.wait(lock,
                  [this] { return is_stopping_ || !ordered_files_.empty() || !registrations_.empty(); });
  const bool is_idle = free_slots_.size() == slots_.size();
  while (is_idle && !registrations_.empty()) {
    Registration& registration = *registrations_.front();
    registrations_.pop_front();
    try {
      registration.refusal = engine_->register_memory(registration.memory);
    } catch (...) {
      registration.refusal = "no memory";
    }
    registration.is_done = true;
    registered_.notify_all();
  }
  is_registering_ = !registrations_.empty();
  while (!is_registering_ && !ordered_files_.empty() && moving_.size() < moving_.capacity() &&
         !is_moving(ordered_files_.front()->file())) {
    moving_.push_back(std::move(ordered_files_.front()));
    ordered_files_.pop_front();
  }
  return !moving_.empty() || !ordered_files_.empty() || !is_stopping_;
}

void SwapMover::go_on() {
  start_blocks();
  take_completions(false);
  const bool has_worked = add_to_a_checksum();
  finish_files();
  const bool is_under_way = free_slots_.size() < slots_.size();
  if (!has_worked && is_under_way) take_completions(true);
}

void SwapMover::start_blocks() {
  for (const std::shared_ptr<MovingFile>& file : moving_) {
    while (!is_registering_ && !free_slots_.empty()) {
      file->begin();
      const std::optional<SwapPiece> piece = file->next();
      if (!piece) break;
      start_in(free_slots_.back(), file, *piece);
    }
  }
}

void SwapMover::start_in(int index, const std::shared_ptr<MovingFile>& file, const SwapPiece& piece) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  std::byte* memory = file->memory_of(piece);
  try {
    if (memory == nullptr) {
      memory = slot.bounce.room_for(piece.stored_bytes());
      if (memory != nullptr && file->is_write()) file->fill(piece, memory);
    }
  } catch (...) {
    memory = nullptr;
  }
  if (memory == nullptr) return file->failed(ENOMEM);
  free_slots_.pop_back();
  slot.file = file;
  slot.piece = piece;
  slot.memory = memory;
  slot.moved = 0;
  slot.tries = 0;
  request(index);
}

void SwapMover::request(int index) {
  const Slot& slot = slots_[static_cast<std::size_t>(index)];
  engine_->start({index, slot.file->is_write(), slot.file->descriptor(), slot.memory + slot.moved,
                  slot.piece.stored_bytes() - slot.moved, slot.piece.offset() + slot.moved});
}

void SwapMover::take_completions(bool wait) {
  for (const SwapCompletion& completion : engine_->completed(wait)) {
    Slot& slot = slots_[static_cast<std::size_t>(completion.slot)];
    if (must_go_on(slot, completion.result)) {
      request(completion.slot);
      continue;
    }
    const std::shared_ptr<MovingFile> file = std::move(slot.file);
    slot.file.reset();
    free_slots_.push_back(completion.slot);
    try {
      hand_back(*file, slot, completion.result);
    } catch (...) {
      file->give_up();
    }
  }
}

// Counts what was moved; whether the rest, or all after an interruption, is to be asked for again.
bool SwapMover::must_go_on(Slot& slot, std::int64_t result) const {
  if (result == -EINTR || result == -EAGAIN) {
    if (result == -EAGAIN) std::this_thread::sleep_for(k_pause_of_try);
    return ++slot.tries < k_most_tries;
  }
  if (result <= 0) return false;
  const std::int64_t before = slot.moved;
  slot.moved += result;
  if (slot.moved == slot.piece.stored_bytes()) return false;
  if (is_direct_) slot.moved -= slot.moved % k_swap_page;  // O_DIRECT goes on at a page
  slot.tries = 0;
  return slot.moved > before;
}

void SwapMover::hand_back(MovingFile& file, const Slot& slot, std::int64_t result) {
  if (slot.moved == slot.piece.stored_bytes()) return file.returned(slot.piece, slot.memory);
  if (result < 0) return file.failed(static_cast<int>(-result));
  file.was_cut_short(slot.piece, slot.moved);
}

bool SwapMover::add_to_a_checksum() {
  return std::any_of(moving_.begin(), moving_.end(),
                     [](const std::shared_ptr<MovingFile>& file) { return file->add_to_checksum(); });
}

void SwapMover::finish_files() {
  std::erase_if(moving_, [](const std::shared_ptr<MovingFile>& file) {
    if (!file->is_finished()) return false;
    file->finish();
    return true;
  });
}

}  // namespace shardlab
