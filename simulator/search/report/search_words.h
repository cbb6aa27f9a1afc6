// Configurations and their figures in words, for the texts of a search.
#pragma once

#include <string>
#include <vector>

#include "simulator/search/candidate.h"
#include "simulator/search/leaders.h"

namespace shardlab {

// "time", "the largest train.micro_batch".
std::string order_words(const Order& order);

// "16 GPUs (2 x hgx-h100)".
std::string gpus_words(const Candidate& candidate);

// "41.2 hours", "3.2 days"; without tokens the time of a million.
std::string time_words(const Candidate& candidate);
// "$8,120", "unknown".
std::string money_words(const Candidate& candidate);
std::string hours_words(double hours);
std::string dollars_words(double dollars);
// "fits with 94 %", "fits: unsure", "memory has no limit".
std::string fit_words(const PredictedFigures& figures);

// "94 %", "yes"; "-" where nobody knows.
std::string fit_cell(const PredictedFigures& figures);
// "+1.14 GiB".
std::string signed_bytes(Bytes bytes);
// to / from - 1; 0 where there is nothing to compare with.
double change(double to, double from);

// "parallel fsdp2, train.micro_batch 4 (as given), accumulation 2", the knobs as a list.
std::vector<std::string> knob_words(const SearchQuestion& question, const Configuration& configuration);

// Knobs in which two differ: "train.micro_batch 2 instead of 4, ...".
std::string instead(const SearchQuestion& question, const Configuration& one, const Configuration& other);

// Offers on which the global batch cannot be trained, and what would change that; empty where there are none.
std::vector<std::string> beyond_batch_words(const SearchQuestion& question,
                                            const std::vector<std::string>& offers);

// "fits with 90 % or more, at most 72 hours".
std::string need_words(const Needs& needs);

// The parts after commas, in lines of at most `width` columns, later ones indented; broken between words.
std::string wrapped(const std::string& first, const std::vector<std::string>& parts, int width);

}  // namespace shardlab
