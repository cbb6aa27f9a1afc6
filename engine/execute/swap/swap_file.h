// A file on the drive: making it, and opening it after something may have happened to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "engine/execute/swap/owned_descriptor.h"

namespace shardlab {

// What all transfers of a drive have in common.
struct SwapPlace {
  int folder = -1;   // open
  std::string path;  // of that folder
  std::string run;
  int rank = 0;
  std::int64_t block = 0;  // most bytes of a request; whole pages
  bool is_direct = false;  // O_DIRECT
};

// A file that was created. Only transfers change it, one after another.
struct SwapFile {
  std::string name;
  std::int64_t bytes = 0;            // of data
  std::optional<std::int64_t> step;  // of the last write, if that was finished
  bool was_begun = false;            // whether there was one
};

// The file as errors name it.
Place place_of_file(const SwapPlace& place, const std::string& name);
// Header and data, in whole pages.
std::int64_t stored_bytes(std::int64_t data_bytes);

// A new file whose room is taken from the drive. not_possible where it has none or fails, and where something
// of that name is there.
Status make_swap_file(const SwapPlace& place, const std::string& name, std::int64_t data_bytes);

// run_failed where the file is gone, was replaced by what is no file, or has another length.
Result<OwnedDescriptor> open_swap_file(const SwapPlace& place, const SwapFile& file, bool is_write);

}  // namespace shardlab
