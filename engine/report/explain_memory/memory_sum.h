// From the live tensors of a peak up to what the device holds, line by line, against what it has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/words.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// What a line of the sum is: a part, or what those above it add up to.
enum class SumRole : std::uint8_t { part, sum };
template <>
inline constexpr auto k_words<SumRole> = std::to_array<Word<SumRole>>({{SumRole::part, "part"},
                                                                       {SumRole::sum, "sum"}});

struct MemorySumLine {
  std::string name;
  Bytes bytes;
  SumRole role = SumRole::part;
  std::string note;

  friend bool operator==(const MemorySumLine&, const MemorySumLine&) = default;
};

struct MemorySum {
  std::vector<MemorySumLine> lines;  // every sum is what the parts above it add up to
  std::optional<Bytes> limit;
  std::optional<Bytes> margin;  // what libraries may take beyond the sum
  std::optional<Fit> fits;
  std::optional<std::string> reason;  // why not, or why unsure

  Bytes total() const { return lines.empty() ? Bytes{} : lines.back().bytes; }
  friend bool operator==(const MemorySum&, const MemorySum&) = default;
};

// `run` must have recorded memory. A run without a caching allocator (on processors) has the tensors alone.
// The allocator's peak and that of the tensors need not be at the same moment: what lies between them is a
// line.
MemorySum memory_sum(const RunSummary& run);

// "fits, with 26.6 GiB to spare; libraries may take 964 MiB more", "does not fit: 8.0 GiB too much".
std::string verdict_words(const MemorySum& sum);

}  // namespace shardlab
