// A search's answers as text, JSON and CSV. Pure; every text ends with a newline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/report/terminal.h"
#include "simulator/search/one_step_away.h"
#include "simulator/search/other_hardware.h"
#include "simulator/search/search.h"
#include "simulator/search/time_errors.h"
#include "simulator/search/why_not.h"

namespace shardlab {

struct NearMiss {
  Candidate candidate;
  std::optional<Mend> mend;
};

// A question with everything that was found.
struct SearchReport {
  const SearchQuestion& question;
  const SearchResult& result;
  std::string id;
  std::vector<NearMiss> nearest;
  std::vector<Neighbour> neighbours;    // of the answer to the question's objective
  std::vector<OtherHardware> hardware;  // of the best for it
  std::optional<WhyNot> why;
  const TimeErrors* errors = nullptr;  // of earlier predictions; null: nothing is said of chances
  bool recommends = false;             // whether answers are what is recommended, rather than the best
};

// What is told of a leader: the best, or what is recommended (equal_candidates.h).
const Candidate& answer_of(const SearchReport& report, const Leader& leader);

std::string search_text(const SearchReport& report, const TextStyle& style);

// One configuration an objective, with reasons, risk and runner-up.
std::string recommendation_text(const SearchReport& report, const TextStyle& style);

// docs/json.md, `search` and `recommend`. All but `search_id` and `timing` repeats to the byte.
nlohmann::ordered_json search_json(const SearchReport& report);

// Every configuration that was simulated, in the order of the space.
std::string search_csv(const SearchReport& report);

// The leaders whose answer is one configuration, together; in the order of the answers.
std::vector<std::vector<const Leader*>> leaders_together(const SearchReport& report);
// "time, the fewest GPUs".
std::string orders_words(const std::vector<const Leader*>& leaders);

// How likely a neighbour of the answer is really better for the question's objective; nothing where it is not
// predicted or no errors are known.
std::optional<double> gain_chance(const SearchReport& report, const Neighbour& neighbour);

// The best for the question's objective, else of whatever order there is; none where nothing satisfies.
const Leader* leader_of(const SearchReport& report);

}  // namespace shardlab
