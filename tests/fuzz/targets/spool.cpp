// What a rank writes while it runs, as its launcher reads it in the end, and follows it meanwhile.
#include "engine/execute/spool.h"
#include "engine/execute/progress_tail.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch_file.h"

namespace shardlab::fuzz {
namespace {

Status write_spool(const std::filesystem::path& file, const Spool& spool) {
  SHARDLAB_TRY(SpoolWriter writer, SpoolWriter::create(file));
  if (spool.header) SHARDLAB_CHECK_OK(writer.write(*spool.header));
  for (const SpoolStep& step : spool.steps) SHARDLAB_CHECK_OK(writer.write(step));
  if (spool.out_of_memory) SHARDLAB_CHECK_OK(writer.write(*spool.out_of_memory));
  if (spool.end) SHARDLAB_CHECK_OK(writer.write(*spool.end));
  if (spool.error) SHARDLAB_CHECK_OK(writer.write(*spool.error));
  return {};
}

}  // namespace

Answer read_spool_file(std::string_view bytes) {
  const std::filesystem::path file = scratch_file("rank-0.spool", bytes);
  ProgressTail tail(file);
  (void)tail.read();
  const Result<Spool> spool = read_spool(file);
  if (!spool) return answer_of(spool);
  // What was read can be written, and reads as the same.
  const std::filesystem::path copy = scratch_folder() / "copy.spool";
  promise(write_spool(copy, *spool).has_value(), "a spool that was read can be written");
  const Result<Spool> again = read_spool(copy);
  promise(again.has_value(), "a spool that was written can be read");
  promise(again->header == spool->header, "a spool keeps its header");
  promise(again->steps.size() == spool->steps.size(), "a spool keeps its steps");
  return Answer::taken;
}

}  // namespace shardlab::fuzz
