#include <algorithm>

#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/report/text_table.h"
#include "simulator/search/chances.h"
#include "simulator/search/equal_candidates.h"
#include "simulator/search/report/search_report.h"
#include "simulator/search/report/search_tables.h"
#include "simulator/search/report/search_words.h"

namespace shardlab {
namespace {

std::vector<std::string> counts_words(const SpaceCounts& space) {
  std::vector<std::string> words;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) words.push_back(fmt::format("{} {}", grouped(static_cast<std::int64_t>(count)), what));
  };
  add(space.refused, "refused");
  add(space.indivisible, "not dividing the batch");
  add(space.bounded, "bounded away");
  add(space.open, "not looked at yet");
  add(space.simulated, "simulated");
  return words;
}

std::vector<std::string> verdict_words(const SpaceCounts& space) {
  std::vector<std::string> words;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) words.push_back(fmt::format("{} {}", grouped(static_cast<std::int64_t>(count)), what));
  };
  add(space.not_fitting, "too large or not likely enough to fit");
  add(space.unmet, "miss another need");
  words.push_back(fmt::format("{} satisfy", grouped(static_cast<std::int64_t>(space.satisfying))));
  return words;
}

// The commonest reasons.
std::vector<std::string> refusal_words(const SearchResult& result) {
  constexpr std::size_t k_shown = 3;
  std::vector<std::pair<std::string, std::uint64_t>> reasons(result.refusals.begin(), result.refusals.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(k_shown, reasons.size()); ++i)
    words.push_back(fmt::format("{} x {}", reasons[i].second, reasons[i].first));
  if (reasons.size() > k_shown) words.push_back(fmt::format("{} other reasons", reasons.size() - k_shown));
  return words;
}

// What varies in the mathematics, because somebody named it.
std::vector<std::string> kept_words(const SearchQuestion& question) {
  static constexpr std::string_view k_mathematics[] = {"model.dtype", "precision", "train.optimizer",
                                                       "model.sequence_length", "train.accumulation"};
  std::vector<std::string> kept, varied;
  if (question.global_batch)
    kept.push_back(fmt::format("global batch of {} sequences", grouped(*question.global_batch)));
  else
    varied.emplace_back("the global batch");
  for (const Knob& knob : question.knobs) {
    const bool named = std::any_of(std::begin(k_mathematics), std::end(k_mathematics),
                                   [&](std::string_view section) { return sets({knob.key + "="}, section); });
    if (named && !sets({knob.key + "="}, "train.accumulation")) varied.push_back(knob.key);
  }
  if (!varied.empty())
    kept.push_back(fmt::format("NOT kept, because the file varies it: {}", fmt::join(varied, ", ")));
  else
    kept.emplace_back("dtypes, optimizer and sequence length");
  return kept;
}

// "1 to 8" where none is left out.
std::string counts_text(const std::vector<int>& counts) {
  if (counts.size() > 2 && counts.back() - counts.front() + 1 == static_cast<int>(counts.size()))
    return fmt::format("{} to {}", counts.front(), counts.back());
  return fmt::format("{}", fmt::join(counts, " or "));
}

std::string rate_words(const EventRate& rate) {
  return fmt::format("{:g} in {:g} {}-days ({})", rate.count, rate.days, rate.of_nodes ? "node" : "GPU",
                     rate.source);
}

std::vector<std::string> offer_words(const SearchQuestion& question) {
  std::vector<std::string> words;
  for (const Offer& offer : question.offers) {
    std::string text = fmt::format("{} x {}", counts_text(offer.nodes), offer_name(offer));
    text += offer.price
                ? fmt::format(" at ${:.2f} an hour each ({}, {})", *offer.price, offer.date, offer.source)
                : " at an unknown price";
    if (offer.interruptions) text += ", interrupted " + rate_words(*offer.interruptions);
    words.push_back(std::move(text));
  }
  return words;
}

std::string heading(const SearchReport& report, int width) {
  const SearchQuestion& question = report.question;
  std::vector<std::string> turned;
  for (const Knob& knob : question.knobs)
    turned.push_back(fmt::format("{} ({})", knob.key, knob.choices.size()));
  std::string text = fmt::format("{}: {} of {}\n", question.file,
                                 counted(static_cast<std::int64_t>(report.result.space.total), "combination"),
                                 question.base.scenario.name);
  if (turned.empty()) turned.emplace_back("nothing");
  text += wrapped(question.knobs_chosen ? "  turned by default  " : "  turned             ", turned, width);
  if (question.knobs_chosen && !question.knobs.empty() && question.knobs.back().key == "offload")
    text += "  offload            turned as well, because nothing fits without\n";
  text += wrapped("  kept               ", kept_words(question), width);
  if (const std::vector<std::string> offers = offer_words(question); !offers.empty())
    text += wrapped("  to rent            ", offers, width);
  if (question.training.tokens)
    text += fmt::format("  to train           {} tokens\n", grouped(*question.training.tokens));
  if (const auto& failures = question.training.failures) {
    text += wrapped("  failures           ", {rate_words(failures->rate), "checkpoints at the best interval"},
                    width);
  }
  if (const auto& evaluation = question.training.evaluation)
    text += fmt::format("  evaluation         {} micro-batches of every rank after every {} steps\n",
                        grouped(evaluation->batches), grouped(evaluation->every));
  if (const Energy& energy = question.training.energy; energy.price)
    text += wrapped("  energy             ",
                    {fmt::format("${:g} a kWh ({}, {})", *energy.price, energy.date, energy.source),
                     fmt::format("{:g} times what the devices draw", energy.overhead)},
                    width);
  text += wrapped("  needs              ", {need_words(question.needs)}, width);
  text += wrapped("  of these           ", counts_words(report.result.space), width);
  if (!report.result.refusals.empty())
    text += wrapped("  refused because    ", refusal_words(report.result), width);
  if (const auto beyond = beyond_batch_words(question, report.result.beyond_batch); !beyond.empty())
    text += wrapped("  left out           ", beyond, width);
  if (report.result.space.simulated > 0)
    text += wrapped("  of the simulated   ", verdict_words(report.result.space), width);
  return text;
}

std::string open_words(const SearchReport& report) {
  const SpaceCounts& space = report.result.space;
  if (space.open == 0) return {};
  std::string text = fmt::format("\nThe time is over: {} of {} combinations ({}) are open.",
                                 grouped(static_cast<std::int64_t>(space.open)),
                                 grouped(static_cast<std::int64_t>(space.total)),
                                 percent(static_cast<double>(space.open) / static_cast<double>(space.total)));
  const Leader* const leader = leader_of(report);
  if (leader != nullptr && report.result.open_bound) {
    const double best = report.result.answers.front().best->costs.time, bound = *report.result.open_bound;
    text += bound < best
                ? fmt::format(" None of them needs less than {} of the best time.", percent(bound / best))
                : " None of them is faster than the best.";
  }
  return text + " The same command goes on where this ended.\n";
}

}  // namespace

std::string search_text(const SearchReport& report, const TextStyle& style) {
  std::string text = heading(report, style.width);
  text += open_words(report);
  if (report.result.answers.empty()) {
    text +=
        report.result.space.open > 0 ? "\nNothing that was looked at satisfies.\n" : "\nNothing satisfies.\n";
    text += nearest_table(report, style);
  } else {
    text += "\n" + answer_blocks(report, style);
    text += "\n" + front_table(report, style);
    text += neighbour_table(report, style) + hardware_table(report, style);
  }
  if (report.why) text += "\n" + why_text(*report.why, style);
  return text;
}

const Candidate& answer_of(const SearchReport& report, const Leader& leader) {
  return report.recommends ? recommended(leader) : *leader.best;
}

std::vector<std::vector<const Leader*>> leaders_together(const SearchReport& report) {
  std::vector<std::vector<const Leader*>> together;
  for (const Leader& leader : report.result.answers) {
    const std::uint64_t its = answer_of(report, leader).configuration.index;
    const auto same = std::find_if(together.begin(), together.end(), [&](const auto& others) {
      return answer_of(report, *others.front()).configuration.index == its;
    });
    if (same != together.end())
      same->push_back(&leader);
    else
      together.push_back({&leader});
  }
  return together;
}

std::string orders_words(const std::vector<const Leader*>& leaders) {
  std::vector<std::string> words;
  for (const Leader* const leader : leaders) words.push_back(order_words(leader->order));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::optional<double> gain_chance(const SearchReport& report, const Neighbour& neighbour) {
  const Leader* const leader = leader_of(report);
  if (report.errors == nullptr || leader == nullptr || !neighbour.candidate) return std::nullopt;
  const Candidate& best = answer_of(report, *leader);
  const Order by_cost = {
      leader->order.objective == SearchObjective::money ? SearchObjective::money : SearchObjective::time, {}};
  const Candidate& other = *neighbour.candidate;
  const bool better = by_cost.objective == SearchObjective::money
                          ? other.costs.money.value_or(1e300) < best.costs.money.value_or(1e300)
                          : other.costs.time < best.costs.time;
  if (better) return chance_before(by_cost, other, best, *report.errors);
  const auto chance = chance_before(by_cost, best, other, *report.errors);
  return chance ? std::optional(1 - *chance) : std::nullopt;
}

const Leader* leader_of(const SearchReport& report) {
  return leader_for(report.result.answers, report.question.objective);
}

}  // namespace shardlab
