#include "engine/doctor/flight/group_stands.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/lower_case.h"

namespace shardlab {
namespace {

using BySequence = std::map<std::int64_t, const FlightEntry*>;

struct Member {
  const FlightDump* dump = nullptr;
  BySequence entries;

  std::int64_t last() const { return entries.empty() ? 0 : entries.rbegin()->first; }
};

struct GroupMembers {
  std::vector<Member> members;  // that left a dump
  std::vector<int> ranks;       // all, where a dump says them
};

std::map<std::string, GroupMembers> members_of(const std::vector<FlightDump>& dumps) {
  std::map<std::string, GroupMembers> groups;
  for (const FlightDump& dump : dumps) {
    for (const auto& [name, ranks] : dump.groups) {
      GroupMembers& group = groups[name];
      group.members.push_back({&dump, {}});
      if (group.ranks.empty()) group.ranks = ranks;
    }
    for (const FlightEntry& entry : dump.entries)
      groups[entry.group].members.back().entries[entry.sequence] = &entry;
  }
  return groups;
}

// Calls in which tensors differ by rank, or some ranks give or take nothing.
bool sizes_may_differ(const FlightEntry& entry) {
  const std::string operation = in_lower_case(entry.operation);
  if (operation == "gather" || operation == "scatter") return true;
  return operation.find("all_to_all") != std::string::npos ||
         operation.find("alltoall") != std::string::npos || operation.find("coalesced") != std::string::npos;
}

bool has_other_sizes(const FlightEntry& a, const FlightEntry& b) {
  if (a.input_types != b.input_types) return true;
  return !sizes_may_differ(a) && a.inputs != b.inputs;
}

// The ranks at a number of the group, as far as their recorders have it.
std::vector<RankStand> ranks_at(const GroupMembers& group, std::int64_t sequence) {
  std::vector<RankStand> there;
  for (const Member& member : group.members) {
    const auto found = member.entries.find(sequence);
    if (found != member.entries.end()) there.push_back({member.dump, found->second});
  }
  return there;
}

// Those that differ from what most of the ranks call there.
template <typename Differs>
std::vector<RankStand> take_others(std::vector<RankStand>& there, Differs differs) {
  const auto likes = [&](const RankStand& one) {
    return std::count_if(there.begin(), there.end(),
                         [&](const RankStand& other) { return !differs(*one.entry, *other.entry); });
  };
  const RankStand most =
      *std::max_element(there.begin(), there.end(),
                        [&](const RankStand& a, const RankStand& b) { return likes(a) < likes(b); });
  std::vector<RankStand> others;
  for (const RankStand& each : there) {
    if (differs(*most.entry, *each.entry)) others.push_back(each);
  }
  std::erase_if(there, [&](const RankStand& each) { return differs(*most.entry, *each.entry); });
  return others;
}

std::optional<GroupStand> mismatch_at(const GroupMembers& group, std::int64_t sequence) {
  std::vector<RankStand> there = ranks_at(group, sequence);
  if (there.size() < 2) return std::nullopt;
  GroupStand stand;
  stand.sequence = sequence;
  stand.kind = GroupStand::Kind::other_operation;
  stand.elsewhere = take_others(
      there, [](const FlightEntry& a, const FlightEntry& b) { return a.operation != b.operation; });
  if (stand.elsewhere.empty()) {
    stand.kind = GroupStand::Kind::other_sizes;
    stand.elsewhere = take_others(there, has_other_sizes);
  }
  stand.there = std::move(there);
  return stand.elsewhere.empty() ? std::nullopt : std::optional(std::move(stand));
}

std::optional<GroupStand> first_mismatch(const GroupMembers& group) {
  std::int64_t first = 0, last = 0;
  for (const Member& member : group.members) {
    if (member.entries.empty()) return std::nullopt;
    first = std::max(first, member.entries.begin()->first);
    last = std::max(last, member.last());
  }
  for (std::int64_t sequence = first; sequence <= last; ++sequence) {
    if (auto stand = mismatch_at(group, sequence)) return stand;
  }
  return std::nullopt;
}

// Whether a call that is not done had waited when its dump was written; a file that was written before is
// another one's copy, and says nothing.
bool has_waited(const RankStand& stand) {
  constexpr Nanoseconds k_shortest_wait = milliseconds(2000);
  if (stand.entry->is_done) return false;
  if (!stand.entry->created || !stand.dump->written) return true;
  const Nanoseconds waited = *stand.dump->written - *stand.entry->created;
  return waited >= k_shortest_wait || waited < Nanoseconds{};
}

// Whether the rank could have made the call before its dump was written.
bool could_have_called(const FlightDump& dump, const FlightEntry& call) {
  return !dump.written || !call.created || *dump.written >= *call.created;
}

// Whether a rank waits there, and one that has not called it could have.
bool is_waited_for(const GroupStand& stand) {
  const auto could = [&](const FlightEntry& call) {
    return stand.elsewhere.empty() ||
           std::any_of(stand.elsewhere.begin(), stand.elsewhere.end(),
                       [&](const RankStand& behind) { return could_have_called(*behind.dump, call); });
  };
  return std::any_of(stand.there.begin(), stand.there.end(),
                     [&](const RankStand& each) { return has_waited(each) && could(*each.entry); });
}

// The collective that those who have called least have not called yet, or, where all stand together, the
// last.
std::optional<GroupStand> where_it_waits(const GroupMembers& group) {
  const auto less = [](const Member& a, const Member& b) { return a.last() < b.last(); };
  const auto [low, high] = std::minmax_element(group.members.begin(), group.members.end(), less);
  const bool together = low->last() == high->last();
  GroupStand stand;
  stand.kind = together ? GroupStand::Kind::not_done : GroupStand::Kind::not_called;
  stand.sequence = low->last() + (together ? 0 : 1);
  stand.there = ranks_at(group, stand.sequence);
  for (const Member& member : group.members) {
    if (member.last() < stand.sequence)
      stand.elsewhere.push_back(
          {member.dump, member.entries.empty() ? nullptr : member.entries.rbegin()->second});
  }
  return is_waited_for(stand) ? std::optional(std::move(stand)) : std::nullopt;
}

std::vector<int> without_dump(const GroupMembers& group) {
  std::vector<int> missing;
  for (const int rank : group.ranks) {
    const bool has = std::any_of(group.members.begin(), group.members.end(),
                                 [&](const Member& member) { return member.dump->rank == rank; });
    if (!has) missing.push_back(rank);
  }
  return missing;
}

}  // namespace

std::vector<GroupStand> group_stands(const std::vector<FlightDump>& dumps) {
  std::vector<GroupStand> stands;
  for (const auto& [name, group] : members_of(dumps)) {
    std::optional<GroupStand> stand = first_mismatch(group);
    if (!stand) stand = where_it_waits(group);
    if (!stand) continue;
    stand->group = name;
    stand->without_dump = without_dump(group);
    stands.push_back(*std::move(stand));
  }
  return stands;
}

std::string words_of(const FlightEntry& entry) {
  std::string sizes;
  for (const auto& shape : entry.inputs) {
    sizes += fmt::format("{}[{}]", sizes.empty() ? "" : " ", fmt::join(shape, " x "));
    constexpr std::size_t k_enough = 60;
    if (sizes.size() > k_enough) {
      sizes += " ...";
      break;
    }
  }
  const std::string type = entry.input_types.empty() ? "" : " " + entry.input_types.front();
  return sizes.empty() ? entry.operation : fmt::format("{} of {}{}", entry.operation, sizes, type);
}

}  // namespace shardlab
