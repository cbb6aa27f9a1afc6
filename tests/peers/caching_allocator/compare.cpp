// Runs sequences through torch's allocator and through our model of it, and compares all statistics and the
// place of every block after every call.
//
//   allocator_peer FIRST_SEED COUNT     at most 100, with the options of PYTORCH_ALLOC_CONF
//   allocator_peer FIRST_SEED COUNT --wrong segment|rounding|order     with a mistake in the model
//   allocator_peer --options            of each line of the standard input: whether both take it as options
//
// Exit code: 0 all equal, 1 not, 2 not used as it says above.
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tests/peers/caching_allocator/real_allocator.h"
#include "tests/peers/caching_allocator/sequences.h"
#include "tests/peers/caching_allocator/stand_in.h"

namespace shardlab {
namespace {

struct Live {
  AllocationId ours;
  std::uint64_t theirs = 0;
  std::string name;
};

// Both allocators at the same point of one sequence.
class Pair {
 public:
  Pair(const AllocatorSequence& sequence, const AllocatorOptions& options, int device, int told_device)
      : real_(device, sequence.total, sequence.available),
        model_(options,
               {sequence.total, sequence.available, told_device,
                [n = std::uint64_t{0}](Bytes) mutable { return DeviceAddress{stand_in_place(n++)}; }}),
        streams_(real_.streams(sequence.streams)) {}

  // What was done; "" when there was nothing to do it with.
  std::string run(const SequenceStep& step) {
    const AllocatorStream stream = streams_[static_cast<std::size_t>(step.stream)];
    switch (step.call) {
      case AllocatorCall::malloc: return malloc(step, stream);
      case AllocatorCall::empty_cache: real_.empty_cache(), model_.empty_cache(); return "empty_cache";
      case AllocatorCall::complete_events: {
        std::int64_t& done = done_[static_cast<std::size_t>(step.stream)];
        done = std::min(done + step.count, model_.events_recorded(stream));
        real_.complete_events(stream, done), model_.complete_events(stream, done);
        return fmt::format("the first {} events of stream {} are done", done, step.stream);
      }
      default: break;
    }
    if (live_.empty()) return {};
    const std::size_t at = step.which % live_.size();
    const Live& live = live_[at];
    if (step.call == AllocatorCall::record_stream) {
      real_.record_stream(live.theirs, stream);
      (void)model_.record_stream(live.ours, stream);
      return fmt::format("record_stream {} on stream {}", live.name, step.stream);
    }
    return free(at);
  }

  std::size_t live() const { return live_.size(); }
  std::string free(std::size_t at) {
    const Live live = live_[at];
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(at));
    real_.free(live.theirs);
    if (!model_.free(live.ours)) return "free, which the model refuses: " + live.name;
    return "free " + live.name;
  }

  const AllocatorStatistics& statistics() const { return model_.statistics(); }
  // How the two differ; "" when they do not.
  std::string difference() const;

 private:
  std::string malloc(const SequenceStep& step, AllocatorStream stream) {
    const auto theirs = real_.malloc(step.size, stream);
    const auto ours = model_.malloc(step.size, stream);
    const std::string name = fmt::format("a{}", ++allocations_);
    std::string done = fmt::format("{} = malloc {} on stream {}", name, step.size.value, step.stream);
    if (!theirs) done += ": out of memory";
    verdicts_differ_ = theirs.has_value() != ours.has_value();
    if (theirs && ours) live_.push_back({*ours, *theirs, name});
    return done;
  }

  RealAllocator real_;
  CachingAllocator model_;
  std::vector<AllocatorStream> streams_;
  std::int64_t done_[16] = {};
  std::vector<Live> live_;
  int allocations_ = 0;
  bool verdicts_differ_ = false;
};

void statistics_difference(const AllocatorStatistics& theirs, const AllocatorStatistics& ours,
                           std::string& text) {
  std::vector<std::pair<std::string, std::int64_t>> a, b;
  const auto listed = [](const AllocatorStatistics& s, auto& out) {
    const auto stat = [&](const std::string& name, const AllocatorStat& v) {
      out.emplace_back(name + ".current", v.current), out.emplace_back(name + ".peak", v.peak);
      out.emplace_back(name + ".allocated", v.allocated), out.emplace_back(name + ".freed", v.freed);
    };
    for_each_pool_stat(s, [&](const std::string& name, const PoolStats& v) {
      stat(name + ".all", v.all), stat(name + ".small_pool", v.small_pool),
          stat(name + ".large_pool", v.large_pool);
    });
    for_each_oversize_stat(s, stat);
    for_each_count(s, [&](const std::string& name, std::int64_t v) { out.emplace_back(name, v); });
  };
  listed(theirs, a), listed(ours, b);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) text += fmt::format("  {}: torch {}, model {}\n", a[i].first, a[i].second, b[i].second);
}

std::string listed(const std::vector<SegmentSnapshot>& segments) {
  std::string text;
  for (const SegmentSnapshot& s : segments) {
    text += fmt::format("    {:#x} {} {}{} stream {}:", s.address.value, to_string(s.size),
                        s.small ? "small" : "large", s.expandable ? " expandable" : "", s.stream.value);
    for (const BlockSnapshot& b : s.blocks)
      text += fmt::format(" {}+{}{}", b.offset.value, b.size.value,
                          b.state == BlockState::allocated ? "A"
                          : b.state == BlockState::pending ? "P"
                                                           : "-");
    text += '\n';
  }
  return text;
}

// What the last caller asked for is kept by a free block too, and nobody's business.
bool equal(const std::vector<SegmentSnapshot>& theirs, const std::vector<SegmentSnapshot>& ours) {
  if (theirs.size() != ours.size()) return false;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const SegmentSnapshot &a = theirs[i], &b = ours[i];
    if (a.address != b.address || a.size != b.size || a.stream != b.stream || a.small != b.small ||
        a.expandable != b.expandable || a.blocks.size() != b.blocks.size())
      return false;
    for (std::size_t k = 0; k < a.blocks.size(); ++k) {
      const BlockSnapshot &x = a.blocks[k], &y = b.blocks[k];
      if (x.offset != y.offset || x.size != y.size || x.state != y.state ||
          (x.state != BlockState::free && x.requested != y.requested))
        return false;
    }
  }
  return true;
}

std::string Pair::difference() const {
  std::string text;
  if (verdicts_differ_) text += "  one of them is out of memory\n";
  const AllocatorStatistics statistics = real_.statistics();
  if (!(statistics == model_.statistics())) statistics_difference(statistics, model_.statistics(), text);
  const std::vector<SegmentSnapshot> theirs = real_.snapshot(), ours = model_.snapshot();
  if (!equal(theirs, ours))
    text += "  torch's blocks:\n" + listed(theirs) + "  the model's:\n" + listed(ours);
  return text;
}

struct Totals {
  std::int64_t calls = 0, retries = 0, ooms = 0, released = 0;
};

// Runs one sequence and gives everything back at its end. What differs first is printed.
bool compare(const AllocatorSequence& sequence, Pair& pair, Totals& totals) {
  std::vector<std::string> done;
  const auto good = [&](std::string what) {
    if (what.empty()) return true;
    done.push_back(std::move(what));
    ++totals.calls;
    const std::string difference = pair.difference();
    if (difference.empty()) return true;
    const char* conf = std::getenv("PYTORCH_ALLOC_CONF");
    std::cout << fmt::format("seed {}, options '{}', {} of {} usable, {} streams: call {} differs\n",
                             sequence.seed, conf == nullptr ? "" : conf, to_string(sequence.available),
                             to_string(sequence.total), sequence.streams, done.size());
    for (std::size_t i = 0; i < done.size(); ++i) std::cout << fmt::format("  {:>4} {}\n", i + 1, done[i]);
    std::cout << difference;
    return false;
  };
  for (const SequenceStep& step : sequence.steps)
    if (!good(pair.run(step))) return false;
  while (pair.live() > 0)
    if (!good(pair.free(pair.live() - 1))) return false;
  SequenceStep last;
  last.call = AllocatorCall::empty_cache;
  const bool equal_to_the_end = good(pair.run(last));
  totals.retries += pair.statistics().num_alloc_retries;
  totals.ooms += pair.statistics().num_ooms;
  totals.released += pair.statistics().num_device_free;
  return equal_to_the_end;
}

int compare_all(std::uint64_t first, int count, std::string_view mistake) {
  const char* conf = std::getenv("PYTORCH_ALLOC_CONF");
  auto options = parse_allocator_options(conf == nullptr ? "" : conf);
  if (!options) return std::cout << to_string(options.error()) << '\n', 2;
  if (mistake == "segment") options->large_segment_size += mebibytes(2);
  if (mistake == "rounding") options->roundup_divisions.fill(options->roundup_divisions[4] == 2 ? 4 : 2);
  Totals totals;
  for (int i = 0; i < count; ++i) {
    const AllocatorSequence sequence = make_sequence(first + static_cast<std::uint64_t>(i));
    Pair pair(sequence, *options, i, mistake == "order" ? i + 1 : i);
    if (!compare(sequence, pair, totals)) return 1;
  }
  std::cout << fmt::format(
      "{} sequences, {} calls equal, {} retries, {} out of memory, {} segments released\n", count,
      totals.calls, totals.retries, totals.ooms, totals.released);
  return 0;
}

int compare_options() {
  int wrong = 0, lines = 0;
  for (std::string line; std::getline(std::cin, line); ++lines) {
    const auto theirs = torch_refuses(line);
    const auto ours = parse_allocator_options(line);
    if (theirs.has_value() == !ours.has_value()) continue;
    ++wrong;
    std::cout << fmt::format("'{}': torch {}, the model {}\n", line,
                             theirs ? "refuses: " + *theirs : "takes it",
                             ours ? "takes it" : "refuses: " + to_string(ours.error()));
  }
  std::cout << fmt::format("{} texts, {} judged differently\n", lines, wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace shardlab

int main(int count, char** arguments) {
  const std::vector<std::string_view> args(arguments + 1, arguments + count);
  if (args.size() == 1 && args[0] == "--options") return shardlab::compare_options();
  const bool mistaken = args.size() == 4 && args[2] == "--wrong";
  if (args.size() != 2 && !mistaken) return 2;
  const int sequences = std::atoi(args[1].data());
  if (sequences < 1 || sequences > k_stand_in_devices) return 2;
  return shardlab::compare_all(std::strtoull(args[0].data(), nullptr, 10), sequences,
                               mistaken ? args[3] : "");
}
