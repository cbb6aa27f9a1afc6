#include "engine/execute/torch/communication/rendezvous.h"

#include <algorithm>
#include <exception>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "engine/execute/machine.h"
#include "engine/execute/torch/communication/gloo_transport.h"
#include "engine/execute/torch/communication/meeting_store.h"
#include "engine/execute/torch/step_failure.h"
#include "engine/plan/group_ranks.h"

namespace shardlab {

struct Rendezvous::State {
  c10::intrusive_ptr<c10d::Store> store;
  GlooOptions gloo;
};

namespace {

std::string arrival_key(int rank) {
  return fmt::format("shardlab/arrived/{}", rank);
}

std::vector<int> missing_ranks(c10d::Store& store, int world) {
  std::vector<int> missing;
  for (int rank = 0; rank < world; ++rank) {
    if (!store.check({arrival_key(rank)})) missing.push_back(rank);
  }
  return missing;
}

Error missing_error(const RankEnvironment& environment, std::chrono::milliseconds timeout,
                    const std::vector<int>& missing, int refused) {
  Error error{
      ErrorKind::run_failed, on_rank(environment.rank),
      fmt::format("{} {} of {} did not arrive within {} s", missing.size() == 1 ? "rank" : "ranks",
                  fmt::join(missing, ", "), environment.world, static_cast<double>(timeout.count()) / 1000),
      "start all ranks with the same MASTER_ADDR and MASTER_PORT, or raise launch.timeout"};
  if (refused == 0) return error;
  error.what += ", and somebody came with another secret of the run";
  error.hint = "SHARDLAB_RUN_SECRET must be the same for all ranks, or be set for none of them";
  return error;
}

Status wait_for_all(MeetingStore& store, const RankEnvironment& environment,
                    std::chrono::milliseconds timeout) {
  store.set(arrival_key(environment.rank), std::vector<std::uint8_t>{1});
  std::vector<std::string> keys;
  for (int rank = 0; rank < environment.world; ++rank) keys.push_back(arrival_key(rank));
  try {
    store.wait(keys, timeout);
  } catch (const std::exception&) {
    const std::vector<int> missing = missing_ranks(store, environment.world);
    if (missing.empty()) throw;
    return fail(missing_error(environment, timeout, missing, store.refused()));
  }
  return {};
}

}  // namespace

Rendezvous::Rendezvous(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Rendezvous::~Rendezvous() = default;
Rendezvous::Rendezvous(const Rendezvous&) = default;
Rendezvous::Rendezvous(Rendezvous&&) noexcept = default;
Rendezvous& Rendezvous::operator=(Rendezvous&&) noexcept = default;

Result<Rendezvous> Rendezvous::connect(const RankEnvironment& environment, const RendezvousOptions& options) {
  SHARDLAB_TRY(Meeting meeting, come_to_meeting(environment, options.run_directory, current_environment(),
                                                options.arrival_timeout));
  try {
    const auto store = c10::make_intrusive<MeetingStore>(std::move(meeting), options.arrival_timeout);
    SHARDLAB_CHECK_OK(wait_for_all(*store, environment, options.arrival_timeout));
    auto state = std::make_shared<State>();
    state->store = store;
    state->gloo = {options.operation_timeout, options.interface,
                   own_address_towards(environment.master_address, environment.master_port)};
    return Rendezvous(std::move(state));
  } catch (const std::exception& error) {
    return run_failed(
        on_rank(environment.rank),
        fmt::format("the meeting point at {}: {}", environment.master_address, first_line(error.what())),
        "is rank 0 still running?");
  }
}

Rendezvous Rendezvous::in_process(const RendezvousOptions& options) {
  auto state = std::make_shared<State>();
  state->store = c10::make_intrusive<c10d::HashStore>();
  state->gloo = {options.operation_timeout, options.interface, "127.0.0.1"};
  return Rendezvous(std::move(state));
}

Result<std::shared_ptr<Communicator>> Rendezvous::communicator(const std::string& name,
                                                               const std::vector<int>& ranks,
                                                               int rank) const {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  if (found == ranks.end())
    return internal_error("rendezvous", fmt::format("rank {} is not in the group {}", rank, name));
  try {
    const auto store =
        c10::make_intrusive<c10d::PrefixStore>(fmt::format("{}@{}", name, ranks.front()), state_->store);
    return make_communicator(make_gloo_transport(store, static_cast<int>(found - ranks.begin()),
                                                 static_cast<int>(ranks.size()), state_->gloo));
  } catch (const std::exception& error) {
    return run_failed(on_rank(rank, fmt::format("group {}", name)),
                      fmt::format("cannot connect: {}", first_line(error.what())),
                      "set launch.interface to the network interface that the ranks share");
  }
}

KeyValueStore Rendezvous::store() const {
  return KeyValueStore(c10::make_intrusive<c10d::PrefixStore>("values", state_->store));
}

std::vector<RankGroup> groups_of(const PlannedScenario& planned, int rank) {
  std::vector<RankGroup> groups;
  std::set<RankSet> seen;
  for (const StepPlan* plan : planned.plan.all()) {
    for (const Group& group : plan->groups) {
      if (group.size == 1 || !seen.insert(group.ranks).second) continue;
      groups.push_back({group.ranks, ranks_of_group(group, planned.scenario, rank)});
    }
  }
  return groups;
}

Result<Communicators> connect_groups(const Rendezvous& rendezvous, const std::vector<RankGroup>& groups,
                                     int rank) {
  Communicators communicators;
  for (const RankGroup& group : groups) {
    SHARDLAB_TRY(communicators[group.set], rendezvous.communicator(to_text(group.set), group.ranks, rank));
  }
  return communicators;
}

}  // namespace shardlab
