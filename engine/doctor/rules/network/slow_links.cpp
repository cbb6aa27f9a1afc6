// Links that are slower than they should be.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/measured_times.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr double k_of_profile = 0.7;

std::vector<Finding> check_collectives(const Rule& rule, const Case& facts) {
  const auto times = collective_times(facts);
  if (!times) return {};
  const double rate =
      static_cast<double>(times->predicted.value) / static_cast<double>(times->measured.value);
  if (rate >= k_of_profile) return {};
  Finding finding = finding_of(rule);
  if (!is_on_gpus(facts)) finding.severity = Severity::info;
  finding.message =
      fmt::format("The large collectives of a step took {}, by the profile {}: {} of its bandwidth.",
                  to_string(times->measured), to_string(times->predicted), share_words(rate));
  finding.evidence = {
      evidence_of_instruction(facts, times->slowest,
                              fmt::format("{} measured, {} predicted", to_string(times->slowest_measured),
                                          to_string(times->slowest_predicted)))};
  return {finding};
}

Rule slow_links() {
  return {
      .id = "network/slow-links",
      .codes = {"D-13"},
      .title = "links between nodes are slower than their profile",
      .severity = Severity::warning,
      .needs = {Need::plan, Need::prediction, Need::measurement},
      .threshold = "collectives of a mebibyte or more below 70 % of the profile (a proposal, to be tuned)",
      .source = "nccl-tests; shardlab calibrate",
      .message = "The measured bus bandwidth is below the profile's.",
      .explanation = "A profile from data sheets is optimistic; a link that is down halves what is left.",
      .fix = {.kind = FixKind::command,
              .text = "measure with `shardlab calibrate` or nccl-tests and use the result"},
      .example = "a bus bandwidth of 90 GB/s where the profile says 180",
      .checks = {{.needs = {Need::plan, Need::prediction, Need::measurement}, .run = check_collectives}},
  };
}

Rule slow_protocol() {
  return {
      .id = "network/slow-protocol",
      .codes = {"E-28"},
      .title = "TCP between nodes that have InfiniBand",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::environment},
      .source = "NCCL's transports",
      .message = "Nodes talk through TCP although they have RDMA.",
      .explanation = "Sockets reach a fraction of the rate and cost processor time.",
      .fix = {.kind = FixKind::environment,
              .text = "use InfiniBand or RoCE: NCCL_IB_DISABLE unset, devices in the container"},
      .example = "a cluster with InfiniBand and NCCL_IB_DISABLE=1",
  };
}

}  // namespace

std::vector<Rule> network_slow_links_rules() {
  return {slow_links(), slow_protocol()};
}

}  // namespace shardlab
