// One transfer: which blocks of which file are moved next, and what becomes of those that were moved.
//
// A write moves the data and then the header, a read moves both at once and compares at its end. The checksum
// follows the blocks in their order, while others are under way. The mover's
// thread calls all of it but the last functions.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <xxhash.h>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/execute/swap/owned_descriptor.h"
#include "engine/execute/swap/swap_file.h"
#include "engine/execute/swap/swap_header.h"

namespace shardlab {

struct FileOrder {
  bool is_write = false;
  std::int64_t step = 0;        // of a write
  std::span<std::byte> memory;  // only read by a write
};

// Part of a file: bytes of the data from `begin` on, or the header.
struct SwapPiece {
  bool is_header = false;
  std::int64_t begin = 0;
  std::int64_t bytes = 0;

  std::int64_t offset() const { return is_header ? 0 : k_swap_page + begin; }
  // On the drive, where the last page of the data is filled with zeros.
  std::int64_t stored_bytes() const { return whole_pages(bytes); }
};

class MovingFile {
 public:
  MovingFile(std::shared_ptr<const SwapPlace> place, std::shared_ptr<SwapFile> file, FileOrder order);

  // Opens the file, the first time. What fails from here on is found in the result.
  void begin();
  // The next block to be moved; nothing while none can be.
  std::optional<SwapPiece> next();
  // Where the block may be moved from or to directly; null where it needs other memory: then fill() before a
  // write, and returned() takes it after a read.
  std::byte* memory_of(const SwapPiece& piece) const;
  void fill(const SwapPiece& piece, std::byte* memory) const;
  // The block that next() gave is moved, from or to that memory; or it failed with an errno or after so many
  // bytes.
  void returned(const SwapPiece& piece, const std::byte* memory);
  void failed(int number);
  void was_cut_short(const SwapPiece& piece, std::int64_t moved);
  // Continues the checksum by a block. Whether there was one to continue it by.
  bool add_to_checksum();
  // Nothing is under way and nothing left to do.
  bool is_finished() const;
  // Compares what was read, lets go of the file and wakes whoever waits.
  void finish() noexcept;
  // For what the other functions throw: no memory is left for an error's text.
  void give_up() noexcept;

  bool is_write() const { return order_.is_write; }
  int descriptor() const { return descriptor_.get(); }
  const SwapFile* file() const { return file_.get(); }

  // Any thread. Blocks until it is finished; the times are valid then.
  Status wait();
  void wait_until_over();
  Nanoseconds began_at() const { return began_at_; }
  Nanoseconds completed_at() const { return completed_at_; }

 private:
  std::int64_t ready_for_checksum() const;
  bool header_may_move() const;
  void fail_with(Error error);
  Status open_file();
  Status check_what_was_read() const;
  Place place() const;
  SwapHeader header() const;

  struct FreeState {
    void operator()(XXH3_state_t* state) const { ::XXH3_freeState(state); }
  };

  const std::shared_ptr<const SwapPlace> place_;
  const std::shared_ptr<SwapFile> file_;
  const FileOrder order_;
  OwnedDescriptor descriptor_;

  std::int64_t next_ = 0;  // data before it were begun
  bool has_begun_ = false, header_begun_ = false;
  int under_way_ = 0;          // blocks
  std::vector<bool> is_here_;  // blocks that a read has completed
  std::int64_t hashed_ = 0;
  std::unique_ptr<XXH3_state_t, FreeState> checksum_;
  SwapPage read_header_{};
  Status status_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;  // from then on nothing above changes
  Nanoseconds began_at_, completed_at_;
};

}  // namespace shardlab
