// Which machine of a job says something else than the others. Private to the doctor.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/doctor/finding.h"
#include "engine/doctor/rule.h"
#include "engine/machine/machine_facts.h"

namespace shardlab {

// What machines say, by name: "torch", "2.11.0". Nothing is said of a name that is left out.
using SaidByName = std::map<std::string, std::string>;

// A name of which machines say different things: what most say, and the others.
struct Difference {
  std::string name, usual;              // empty: not set
  std::size_t alike = 0;                // machines that say so
  const MachineFacts* first = nullptr;  // of those
  struct Odd {
    const MachineFacts* machine = nullptr;
    std::string value;
  };
  std::vector<Odd> odd;
};

// By name; of values that as many say, the first machine's is the usual one.
std::vector<Difference> differences(const std::vector<MachineFacts>& machines,
                                    SaidByName (*said)(const MachineFacts& machine));

// "torch is 2.10.0 on rank 3 on node1 and 2.11.0 on rank 0 on node0 and 6 others." Others may say a third
// thing.
std::string words_of(const Difference& difference);

// A finding that names the odd ones.
Finding finding_about(const Rule& rule, const Difference& difference);

}  // namespace shardlab
