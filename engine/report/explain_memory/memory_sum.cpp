#include "engine/report/explain_memory/memory_sum.h"

#include <fmt/format.h>

namespace shardlab {
namespace {

class SumOfLines {
 public:
  void part(std::string name, Bytes bytes, std::string note) {
    if (bytes.value == 0) return;
    so_far_ += bytes;
    sum_.lines.push_back({std::move(name), bytes, SumRole::part, std::move(note)});
  }
  void overheads(const std::vector<MemoryOverhead>& rows, OverheadPlace where) {
    for (const MemoryOverhead& row : rows)
      if (row.where == where) part(row.name, row.bytes, row.formula);
  }
  // Adds what is missing up to `bytes` as a part of its own.
  void up_to(std::string name, Bytes bytes, std::string rest, std::string note) {
    part(std::move(rest), bytes - so_far_, std::move(note));
    sum_.lines.push_back({std::move(name), bytes, SumRole::sum, ""});
  }
  MemorySum take() { return std::move(sum_); }

 private:
  MemorySum sum_;
  Bytes so_far_;
};

}  // namespace

MemorySum memory_sum(const RunSummary& run) {
  SumOfLines sum;
  if (!run.memory) return {};
  const MemorySummary& memory = *run.memory;
  sum.part("live tensors", memory.peak_allocated, "the rows below");
  if (memory.peak_reserved) {
    sum.overheads(memory.overheads, OverheadPlace::allocator);
    sum.up_to("reserved by the allocator", *memory.peak_reserved, "rounding and fragmentation",
              "blocks rounded up, gaps between them, memory of other moments that is kept");
  }
  if (memory.peak_device) {
    sum.overheads(memory.overheads, OverheadPlace::device);
    sum.up_to("in use on the device", *memory.peak_device, "others", "not told apart");
  }
  MemorySum all = sum.take();
  all.limit = run.memory_limit;
  all.margin = run.fit_margin;
  all.fits = run.fits;
  all.reason = run.fit_reason;
  return all;
}

std::string verdict_words(const MemorySum& sum) {
  if (!sum.fits || !sum.limit) return "nothing is known of the device's memory";
  const Bytes spare = *sum.limit - sum.total();
  if (spare < Bytes{}) return fmt::format("does not fit: {} too much", to_string(-spare));
  if (*sum.fits == Fit::no) return fmt::format("does not fit: {}", sum.reason.value_or("nobody said why"));
  std::string text =
      fmt::format("{}, with {} to spare", *sum.fits == Fit::yes ? "fits" : "unsure", to_string(spare));
  if (*sum.fits == Fit::unsure && sum.reason) text += fmt::format("; {}", *sum.reason);
  if (sum.margin) text += fmt::format("; libraries may take {} more", to_string(*sum.margin));
  return text;
}

}  // namespace shardlab
