#include "tests/catch.h"

#include "simulator/memory/caching_allocator/allocator_options.h"
#include "simulator/memory/caching_allocator/block_sizes.h"

namespace shardlab {
namespace {

AllocatorOptions options(std::string_view text) {
  const auto read = parse_allocator_options(text);
  INFO((read ? "" : to_string(read.error())));
  REQUIRE(read);
  return *read;
}

std::string refusal(std::string_view text) {
  const auto read = parse_allocator_options(text);
  REQUIRE(!read);
  CHECK(read.error().kind == ErrorKind::bad_input);
  return to_string(read.error());
}

}  // namespace

TEST_CASE("the options of PYTORCH_ALLOC_CONF are read as torch reads them") {
  CHECK(options("") == AllocatorOptions{});
  CHECK(options("max_split_size_mb:128").max_split_size == mebibytes(128));
  CHECK(options(" expandable_segments : True ,").expandable_segments);
  // The size of a segment counts wherever it stands, and is the least that may be wasted.
  const AllocatorOptions large = options("max_split_size_mb:11,large_segment_size_mb:11");
  CHECK(large.max_split_size == mebibytes(11));
  CHECK(large.max_non_split_rounding == mebibytes(11));
  const auto divisions = options("roundup_power2_divisions:[4:1,16:2,>:8]").roundup_divisions;
  CHECK(divisions == std::array<std::int64_t, 16>{1, 1, 1, 0, 2, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8});
}

TEST_CASE("what is no option, or no value of it, is refused by name") {
  CHECK(refusal("max_split_size:3") ==
        "max_split_size: no option of torch's allocator (did you mean 'max_split_size_mb'?)");
  CHECK(refusal("pinned_num_register_threads:8") ==
        "pinned_num_register_threads: not modelled (it does not decide where device memory lies: leave it "
        "out)");
  CHECK(refusal("backend:cudaMallocAsync") == "backend: 'cudaMallocAsync' is not modelled: only native");
  CHECK(refusal("max_split_size_mb:19") ==
        "max_split_size_mb: 19 is too small: at least 20, a large segment");
  CHECK(refusal("max_split_size_mb:64x") == "max_split_size_mb: '64x' is no number");
  CHECK(refusal("max_split_size_mb") ==
        "max_split_size_mb: an option without a value (options are written name:value,name:value)");
  CHECK(refusal("garbage_collection_threshold:1") ==
        "garbage_collection_threshold: '1' is not between 0 and 1");
  CHECK(refusal("per_process_memory_fraction:nan") ==
        "per_process_memory_fraction: 'nan' is not from 0 to 1");
  CHECK(refusal("expandable_segments:true") == "expandable_segments: 'true' is neither True nor False");
  CHECK(refusal("roundup_power2_divisions:6") ==
        "roundup_power2_divisions: 6 divisions: only a power of two");
  CHECK(refusal("roundup_power2_divisions:[3:4]") ==
        "roundup_power2_divisions: interval 3: only a power of two");
  CHECK(refusal("roundup_power2_divisions:[4:4,>:2") ==
        "roundup_power2_divisions: the list has no end (close it by ])");
  CHECK(refusal("expandable_segments:True;max_split_size_mb:64") ==
        "expandable_segments: ':' behind its value");
}

TEST_CASE("sizes of blocks and segments, by hand") {
  const AllocatorOptions plain, quarters = options("roundup_power2_divisions:4");
  CHECK(block_size({1}, plain) == Bytes{512});
  CHECK(block_size({513}, plain) == Bytes{1024});
  CHECK(block_size({1'200'000}, quarters) == Bytes{1'310'720});  // 1 MiB and a quarter
  CHECK(block_size(mebibytes(4), quarters) == mebibytes(4));
  CHECK(block_size({2048}, quarters) == Bytes{2048});
  CHECK(block_size({2049}, quarters) == Bytes{2560});
  CHECK(segment_size(mebibytes(1), plain) == mebibytes(2));
  CHECK(segment_size(mebibytes(1) + Bytes{512}, plain) == mebibytes(20));
  CHECK(segment_size(mebibytes(10), plain) == mebibytes(10));
  CHECK(segment_size(mebibytes(11), plain) == mebibytes(12));
}

}  // namespace shardlab
