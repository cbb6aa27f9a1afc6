// The parts of a search's text. Pure; every text ends with a newline, or is empty.
#pragma once

#include <string>
#include <vector>

#include "engine/report/terminal.h"
#include "simulator/search/report/search_report.h"

namespace shardlab {

// The best for each order, those of one configuration together.
std::string answer_blocks(const SearchReport& report, const TextStyle& style);
std::string front_table(const SearchReport& report, const TextStyle& style);
// What each knob one step away would change of the best.
std::string neighbour_table(const SearchReport& report, const TextStyle& style);
// What more memory and faster wires would change of it, and what is the best with more memory.
std::string hardware_table(const SearchReport& report, const TextStyle& style);
// The nearest misses, and what mends each.
std::string nearest_table(const SearchReport& report, const TextStyle& style);
std::string why_text(const WhyNot& why, const TextStyle& style);

// What is likely of an answer, from the errors of earlier predictions: between what it costs in 8 of 10
// cases, with which probability within the needs, and how many others are as good within these errors.
std::vector<std::string> chance_lines(const SearchReport& report, const Leader& leader);

// Why not the best is recommended but what it equals: "nearer to the scenario". `leader` has a nearest equal.
std::string why_recommended(const Leader& leader);

// Figures of a configuration in lines below its title.
std::string candidate_block(const SearchQuestion& question, const std::string& title,
                            const Candidate& candidate, int width);

}  // namespace shardlab
