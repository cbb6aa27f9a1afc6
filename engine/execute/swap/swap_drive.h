// Memory that lies in files on a local drive: what ZeRO-Infinity does with the states of an optimizer.
//
// A rank has one drive object, with a folder of its own below a folder of the user's. Files have a header
// page and then their data; a checksum and the header's words notice on reading what has become of them.
// Transfers go past the page cache (O_DIRECT) where the file system allows it. The files are swap: they are
// not synced, and gone with their object, or with the next one that is opened there after a kill -9.
//
// Any thread may call the functions of a drive, and of a transfer, at any time between their making and their
// end. Making, creating and registering may take as long as the drive does; write() and read() return at
// once, and a thread of the drive does the work, so that nobody must wait for one transfer before another
// goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/base/words.h"

namespace shardlab {

enum class SwapMechanism : std::uint8_t { io_uring, threads };
template <>
inline constexpr auto k_words<SwapMechanism> = std::to_array<Word<SwapMechanism>>(
    {{SwapMechanism::io_uring, "io_uring"}, {SwapMechanism::threads, "threads"}});

struct SwapOptions {
  std::string path;  // folder on the drive (cluster.nvme.path); must exist
  std::string run;   // id of the run: letters, digits, '_' and '-', at most 128
  int rank = 0;
  Bytes block{1 << 20};  // most bytes of one request to the kernel: whole pages of 4096 bytes, at most 1 GiB
  int queue_depth = 8;   // requests in flight over all transfers, 1 to 4096
  int threads = 1;       // where threads move the blocks, 1 to 256; one in addition drives them
  // Absent: io_uring where the kernel has it and allows it, else threads.
  std::optional<SwapMechanism> mechanism{};
};

// Work under way. Any number of threads may wait, in any order, also after the drive's end.
class SwapTransfer {
 public:
  SwapTransfer() = default;
  SwapTransfer(const SwapTransfer&) = delete;
  SwapTransfer& operator=(const SwapTransfer&) = delete;
  // Waits, since the kernel may still use the memory.
  virtual ~SwapTransfer() = default;

  // Blocks until the memory is not used any more; says each time what became of the transfer. run_failed: the
  // file or the drive, with the file and the rank as the place (ErrorCode::unreadable where the machine is at
  // fault); internal: the caller named a file that was not created, or memory of another size.
  virtual Status wait() = 0;
  // When its first block was started and when it was done, on this host's monotonic clock (monotonic_now());
  // valid after wait().
  virtual Nanoseconds began_at() const = 0;
  virtual Nanoseconds completed_at() const = 0;
};

class SwapDrive {
 public:
  // Makes <path>/shardlab-swap-<run>/rank<N>/, open to this user alone, and removes what runs of this user
  // left that were killed. bad_input where an option is wrong or the path is no folder; not_possible where
  // the folder cannot be made or belongs to somebody else, another process has this rank of this run, or the
  // mechanism asked for is missing.
  static Result<std::unique_ptr<SwapDrive>> open(const SwapOptions& options);

  SwapDrive(const SwapDrive&) = delete;
  SwapDrive& operator=(const SwapDrive&) = delete;
  // Waits for what is under way; removes this rank's files and folder, and the run's where it was the last.
  ~SwapDrive();

  // Memory that transfers will use, which then need not be looked up and locked by the kernel each time. It
  // must stay mapped until the drive's end: the kernel keeps its pages. Where it is not aligned to a page, or
  // the kernel or the mechanism does not take it, transfers work all the same and description() says why.
  Status register_memory(std::span<std::byte> memory);

  // A file with room for that many bytes, which is taken from the drive at once. bad_input for a name that is
  // none (letters, digits, '_', '.' and '-', no '.' in front, at most 200) and for one that is there already;
  // not_possible where the drive has no room or fails.
  Status create(const std::string& name, Bytes bytes);

  // All bytes of a file, from or to memory of exactly its size, which must live and, for a write, stay as it
  // is until wait(). Page-aligned memory is moved directly, other memory is copied once. Transfers of one
  // file are done in the order in which they were begun. `step` is kept with the data: a read that finds
  // another than the last write left fails. After a read that failed the memory's content is unspecified.
  std::unique_ptr<SwapTransfer> write(const std::string& name, std::int64_t step,
                                      std::span<const std::byte> memory);
  std::unique_ptr<SwapTransfer> read(const std::string& name, std::span<std::byte> memory);

  // "io_uring, O_DIRECT, registered buffers"; "2 threads, through the page cache (O_DIRECT is refused by
  // ramfs)"; "1 thread (io_uring: it is forbidden here), O_DIRECT".
  std::string description() const;

 private:
  class Parts;
  explicit SwapDrive(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace shardlab
