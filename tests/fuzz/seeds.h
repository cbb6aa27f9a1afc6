// The inputs of a target that lie in the sources.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace shardlab::fuzz {

struct Seed {
  std::string source;  // the file, and which part of it
  std::string bytes;
  SeedPlace::Verdict verdict = SeedPlace::Verdict::taken;
};

// From its places and from corpus/<name>: the folder `taken` holds what must be read, `refused` what must
// not, `survived` what once was a finding. `root` is that of the sources. Throws std::runtime_error for a
// place that does not exist or holds nothing, for a folder of another name, and for a target without any
// input that must be taken: nothing behind the reader's first check would ever be reached.
std::vector<Seed> seeds_of(const FuzzTarget& target, const std::filesystem::path& root);

// Words of the seeds, as libFuzzer's -dict reads them: a dictionary of the kind's own language.
std::string dictionary_of(const std::vector<Seed>& seeds);

}  // namespace shardlab::fuzz
