// The job file of a rank. Launcher and rank are of one version: VERSION in an input stands for this
// program's.
#include "engine/execute/rank_job.h"
#include "engine/base/version.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_rank_job_text(std::string_view bytes) {
  constexpr std::string_view k_version = "VERSION";
  std::string own(bytes);
  if (const std::size_t at = own.find(k_version); at != std::string::npos)
    own.replace(at, k_version.size(), program_version());
  const Result<RankJob> job = parse_rank_job(own);
  if (!job) return answer_of(job);
  const Result<std::string> text = rank_job_text(*job);
  promise(text.has_value(), "a job that was read can be written");
  const Result<RankJob> again = parse_rank_job(*text);
  promise(again.has_value() && *again == *job, "a job passes through its text");
  return Answer::taken;
}

}  // namespace shardlab::fuzz
