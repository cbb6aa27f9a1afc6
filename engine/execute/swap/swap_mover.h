// The thread that moves files: it hands blocks to an engine, as many at once as the queue is deep, over all
// transfers, and takes checksums while the drive works.
//
// Nobody has to wait for a transfer to go on: it is moved to its end or its failure in any case.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/execute/swap/aligned_memory.h"
#include "engine/execute/swap/moving_file.h"
#include "engine/execute/swap/swap_engine.h"

namespace shardlab {

class SwapMover {
 public:
  // Throws std::system_error where the machine has no thread left.
  SwapMover(std::unique_ptr<SwapEngine> engine, int depth, bool is_direct);
  SwapMover(const SwapMover&) = delete;
  SwapMover& operator=(const SwapMover&) = delete;
  // Ends when every transfer has.
  ~SwapMover();

  // Any thread. Transfers of one file are done one after another, in this order.
  void begin(std::shared_ptr<MovingFile> file);
  // Any thread; waits until no block is under way. Returns why the kernel does not take it.
  std::optional<std::string> register_memory(std::span<std::byte> memory);

 private:
  // One of the requests that may be under way at once.
  struct Slot {
    std::shared_ptr<MovingFile> file;  // empty: free
    SwapPiece piece;
    AlignedMemory bounce;
    std::byte* memory = nullptr;  // its own, or the caller's
    std::int64_t moved = 0;
    int tries = 0;  // one after another that moved nothing
  };
  struct Registration {
    std::span<std::byte> memory;
    std::optional<std::string> refusal;
    bool is_done = false;
  };

  void run();
  bool take_orders();
  bool is_moving(const SwapFile* file) const;
  void go_on();
  void start_blocks();
  void start_in(int index, const std::shared_ptr<MovingFile>& file, const SwapPiece& piece);
  void request(int index);
  void take_completions(bool wait);
  bool must_go_on(Slot& slot, std::int64_t result) const;
  static void hand_back(MovingFile& file, const Slot& slot, std::int64_t result);
  bool add_to_a_checksum();
  void finish_files();

  // The thread's.
  const std::unique_ptr<SwapEngine> engine_;
  const bool is_direct_;
  std::vector<Slot> slots_;
  std::vector<int> free_slots_;
  std::vector<std::shared_ptr<MovingFile>> moving_;  // in their order
  bool is_registering_ = false;

  std::mutex mutex_;
  std::condition_variable ordered_, registered_;
  std::deque<std::shared_ptr<MovingFile>> ordered_files_;
  std::deque<Registration*> registrations_;
  bool is_stopping_ = false;

  std::thread thread_;
};

}  // namespace shardlab
