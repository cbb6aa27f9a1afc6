#include "engine/doctor/log/sign_index.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/doctor/log/sign_pattern.h"

namespace shardlab {
namespace {

// Figures of a training loop, for which a line is looked at as well.
constexpr auto k_figure_anchors = std::to_array<std::string_view>(
    {"nan", ": inf", "=inf", "scale", "loss", "grad_norm", "grad norm", "gnorm", "gradient norm", "memory",
     "mem:", "mem=", "mem ", "allocated", " ma "});
// Lines that the reader looks at for their own sake: frames, reports of failures.
constexpr auto k_own_anchors = std::to_array<std::string_view>({"file \"",
                                                                "\xe2\x94\x82 ",  // a frame as rich draws it
                                                                "file /",
                                                                "file ~",  // and as notebooks do
                                                                "\xe2\x9d\xb1 ",
                                                                "--> ",  // the line of its code
                                                                "assertion `",
                                                                "store based barrier",
                                                                "store-based barrier",
                                                                "exitcode",
                                                                "exits with",
                                                                "exited ",
                                                                "terminated with",
                                                                "non-zero exit status",
                                                                "died with",
                                                                "exit code",
                                                                "mpi_abort",
                                                                "cancelled at",
                                                                "dump signal",
                                                                "last enqueued work",
                                                                "traceback (most",
                                                                "tried to allocate",
                                                                "worknccl(",
                                                                "last enqueued nccl work",
                                                                "root cause",
                                                                "(local_rank:",
                                                                "error",
                                                                "exception",
                                                                "fatal",
                                                                "failed",
                                                                "failure",
                                                                "aborted",
                                                                "killed",
                                                                "timeout",
                                                                "timed out",
                                                                "segmentation fault",
                                                                "core dumped",
                                                                "terminate called",
                                                                "interrupt",
                                                                "stack smashing",
                                                                "double free",
                                                                "illegal instruction"});

IndexedSign indexed(const LogSign& sign, std::uint32_t rule) {
  IndexedSign made{
      &sign, rule, split_pattern(sign.pattern), longest_piece(sign.pattern), split_pattern(sign.frame), {}};
  for (const std::string_view pattern : sign.unless) made.unless.push_back(split_pattern(pattern));
  return made;
}

}  // namespace

SignIndex::SignIndex(const std::vector<Rule>& rules) : finder_(collect(rules, by_anchor_)) {}

std::vector<std::string> SignIndex::collect(const std::vector<Rule>& rules,
                                            std::vector<std::vector<IndexedSign>>& by_anchor) {
  std::vector<std::string> anchors;
  std::map<std::string, std::size_t> known;
  const auto place = [&](const std::string& anchor) {
    const auto [found, added] = known.emplace(anchor, anchors.size());
    if (added) {
      anchors.push_back(anchor);
      by_anchor.emplace_back();
    }
    return found->second;
  };
  for (const std::string_view anchor : k_figure_anchors) place(std::string(anchor));
  for (const std::string_view anchor : k_own_anchors) place(std::string(anchor));
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    for (const LogSign& sign : rules[rule].signs) {
      const std::string anchor = longest_piece(sign.pattern);
      if (!anchor.empty()) by_anchor[place(anchor)].push_back(indexed(sign, rule));
    }
  }
  return anchors;
}

bool SignIndex::are_figures(const std::vector<std::uint32_t>& found) const {
  return std::all_of(found.begin(), found.end(), [&](std::uint32_t anchor) {
    return anchor < k_figure_anchors.size() && by_anchor_[anchor].empty();
  });
}

bool matches(const IndexedSign& sign, std::string_view lower_case_line) {
  if (!matches(sign.pieces, lower_case_line)) return false;
  return std::none_of(sign.unless.begin(), sign.unless.end(),
                      [&](const auto& pieces) { return matches(pieces, lower_case_line); });
}

}  // namespace shardlab
