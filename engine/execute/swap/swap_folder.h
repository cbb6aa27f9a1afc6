// The folder of one rank on the drive: <path>/shardlab-swap-<run>/rank<N>/, this user's alone.
//
// A file `.lock` in it is locked (flock) as long as its process lives, whatever ends it, and names the host:
// what is not locked was left by a process that was killed, which only its own host can tell. No link is
// followed below <path>; <path> itself may be one.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/execute/swap/owned_descriptor.h"

namespace shardlab {

class SwapFolder {
 public:
  // Removes what killed processes left (remove_abandoned_swap) and makes the folder. bad_input where `path`
  // is no folder; not_possible where the folder cannot be made, is another user's or a link, or a process
  // that lives has it. `run` is an is_swap_run().
  static Result<SwapFolder> make(const std::string& path, const std::string& run, int rank);

  SwapFolder(SwapFolder&&) noexcept = default;
  SwapFolder& operator=(SwapFolder&&) = delete;
  // Removes the folder with everything in it, and the run's where this was the last rank's.
  ~SwapFolder();

  int descriptor() const { return rank_folder_.get(); }
  const std::string& path() const { return path_; }

 private:
  SwapFolder(OwnedDescriptor drive, const std::string& path, const std::string& run, int rank);
  // Whether it was made; where another process removed a part of it meanwhile it was not, and may be next
  // time.
  Result<bool> try_to_make();
  Result<bool> open_run_folder();
  Result<bool> make_rank_folder();
  Result<bool> lock();
  tl::unexpected<Error> cannot_be(const char* what) const;
  tl::unexpected<Error> refuse_foreign(std::string what) const;

  std::string run_name_, rank_name_;
  std::string path_;  // of the rank's folder
  int rank_;
  OwnedDescriptor drive_, run_folder_, rank_folder_, lock_;
  bool is_made_ = false;  // and locked: it is removed at the end
};

}  // namespace shardlab
