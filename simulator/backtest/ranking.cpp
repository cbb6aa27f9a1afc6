#include "simulator/backtest/ranking.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "simulator/backtest/error_summary.h"
#include "simulator/backtest/ranked_runs.h"
#include "simulator/backtest/ranking_baselines.h"

namespace shardlab {
namespace {

using Runs = std::vector<const PublishedRun*>;
using Pair = std::pair<const PublishedRun*, const PublishedRun*>;

constexpr const char* k_accumulation = "grad_accum";

std::vector<Pair> pairs_apart(const Runs& runs) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t j = i + 1; j < runs.size(); ++j)
      if (are_apart(published_rate(*runs[i]), published_rate(*runs[j]))) pairs.emplace_back(runs[i], runs[j]);
  return pairs;
}

class Judges {
 public:
  explicit Judges(const Backtest& backtest) {
    for (const BacktestRow& row : backtest.rows)
      if (row.predicted && !row.figure.empty()) predicted_[row.id] = *row.predicted;
  }

  std::optional<double> predicted(const PublishedRun& run) const {
    const auto found = predicted_.find(run.cell("id"));
    return found == predicted_.end() ? std::nullopt : std::optional(found->second);
  }

  // Tokens a second and GPU; nothing of an order alone.
  std::optional<double> rate(RankedBy by, const PublishedRun& run) const {
    if (by == RankedBy::prediction) return predicted(run);
    return by == RankedBy::roofline ? crude_rate(run) : std::nullopt;
  }

  bool knows(RankedBy by, const PublishedRun& run) const {
    return by == RankedBy::order || rate(by, run).has_value();
  }

  // Above 0: a is the faster. Both are known.
  int compare(RankedBy by, const PublishedRun& a, const PublishedRun& b) const {
    if (by == RankedBy::order) {
      const auto of_a = settings_order(a), of_b = settings_order(b);
      return of_a == of_b ? 0 : of_a < of_b ? 1 : -1;
    }
    const double of_a = *rate(by, a), of_b = *rate(by, b);
    return of_a == of_b ? 0 : of_a > of_b ? 1 : -1;
  }

 private:
  std::map<std::string, double> predicted_;
};

double credit(const Judges& judges, RankedBy by, const Pair& pair) {
  const int said = judges.compare(by, *pair.first, *pair.second);
  if (said == 0) return 0.5;
  return (said > 0) == (published_rate(*pair.first) > published_rate(*pair.second)) ? 1 : 0;
}

// By how much the best of the group is faster than the pick; nothing where fewer than two are known.
std::optional<double> regret(const Judges& judges, RankedBy by, const Runs& group) {
  const PublishedRun* pick = nullptr;
  int known = 0;
  double best = 0;
  for (const PublishedRun* const run : group) {
    best = std::max(best, published_rate(*run));
    if (!judges.knows(by, *run)) continue;
    ++known;
    if (pick == nullptr || judges.compare(by, *run, *pick) > 0) pick = run;
  }
  return known < 2 ? std::nullopt : std::optional(best / published_rate(*pick) - 1);
}

OrderScore order_score(const Judges& judges, RankedBy by, const std::vector<Runs>& groups,
                       const std::vector<Pair>& pairs) {
  OrderScore score;
  score.by = by;
  double good = 0, good_of_ours = 0;
  int ours = 0, picks = 0;
  for (const Pair& pair : pairs) {
    if (!judges.knows(by, *pair.first) || !judges.knows(by, *pair.second)) {
      ++score.without;
      continue;
    }
    ++score.pairs;
    const double one = credit(judges, by, pair);
    good += one;
    if (!judges.predicted(*pair.first) || !judges.predicted(*pair.second)) continue;
    ++ours;
    good_of_ours += one;
  }
  score.in_order = score.pairs > 0 ? good / score.pairs : 0;
  score.in_order_of_ours = ours > 0 ? good_of_ours / ours : 0;
  for (const Runs& group : groups) {
    const auto one = regret(judges, by, group);
    if (!one) continue;
    ++picks;
    score.mean_regret += *one;
    score.worst_regret = std::max(score.worst_regret, *one);
  }
  if (picks > 0) score.mean_regret /= picks;
  return score;
}

RankedGroups ranked_groups(const Judges& judges, const Runs& runs, bool same_count) {
  std::vector<std::string> columns = {
      "source_repo_or_paper", "framework", "framework_version", "model", "seq_len", "gpu"};
  if (same_count) columns.emplace_back("n_gpus");
  std::vector<Runs> groups = runs_together(runs, columns);
  std::erase_if(groups, [](const Runs& group) { return pairs_apart(group).empty(); });
  RankedGroups ranked;
  ranked.same_count = same_count;
  std::vector<Pair> pairs;
  for (const Runs& group : groups) {
    ranked.configurations += static_cast<int>(group.size());
    const std::vector<Pair> its = pairs_apart(group);
    pairs.insert(pairs.end(), its.begin(), its.end());
  }
  ranked.groups = static_cast<int>(groups.size());
  ranked.pairs = static_cast<int>(pairs.size());
  for (const Word<RankedBy>& by : k_words<RankedBy>)
    ranked.scores.push_back(order_score(judges, by.value, groups, pairs));
  return ranked;
}

// The one knob in which two differ, empty where they differ in several or none.
std::string knob_between(const Pair& pair) {
  std::vector<std::string> columns = setting_columns();
  columns.insert(columns.end(), {"n_gpus", "gpu"});
  std::vector<std::string> differ;
  for (const std::string& column : columns)
    if (pair.first->cell(column) != pair.second->cell(column)) differ.push_back(column);
  if (differ.size() == 2) std::erase(differ, k_accumulation);
  return differ.size() == 1 ? differ.front() : std::string();
}

struct KnobPair {
  std::string knob, source;
  Pair pair;
};

std::vector<KnobPair> knob_pairs(const Runs& runs) {
  std::vector<KnobPair> found;
  for (const Runs& group :
       runs_together(runs, {"source_repo_or_paper", "framework", "framework_version", "model", "seq_len"})) {
    for (const Pair& pair : pairs_apart(group)) {
      std::string knob = knob_between(pair);
      if (!knob.empty()) found.push_back({std::move(knob), pair.first->cell("source_repo_or_paper"), pair});
    }
  }
  return found;
}

std::optional<double> knob_error(const Judges& judges, RankedBy by, const Pair& pair) {
  const auto a = judges.rate(by, *pair.first), b = judges.rate(by, *pair.second);
  if (!a || !b) return std::nullopt;
  return std::abs(std::log(*a / *b) / std::log(published_rate(*pair.first) / published_rate(*pair.second)) -
                  1);
}

KnobScore knob_score(const Judges& judges, RankedBy by, const std::vector<KnobPair>& pairs) {
  KnobScore score;
  score.by = by;
  std::vector<double> errors, medians;
  std::map<std::pair<std::string, std::string>, std::vector<double>> together;
  for (const KnobPair& each : pairs) {
    const auto error = knob_error(judges, by, each.pair);
    if (!error) {
      ++score.without;
      continue;
    }
    ++score.pairs;
    errors.push_back(*error);
    together[{each.knob, each.source}].push_back(*error);
  }
  if (!errors.empty()) score.median = quantile(errors, 0.5);
  for (const auto& [key, its] : together)
    if (its.size() > 1) medians.push_back(quantile(its, 0.5));
  score.medians = static_cast<int>(medians.size());
  if (!medians.empty()) score.median_of_medians = quantile(medians, 0.5);
  return score;
}

std::vector<KnobLine> knob_lines(const Judges& judges, const std::vector<KnobPair>& pairs) {
  std::map<std::string, std::vector<KnobPair>> by_knob;
  for (const KnobPair& each : pairs) by_knob[each.knob].push_back(each);
  std::vector<KnobLine> lines;
  for (const auto& [knob, its] : by_knob) {
    const auto median = [&judges, &all = its](RankedBy by) -> std::optional<double> {
      const KnobScore score = knob_score(judges, by, all);
      return score.pairs > 0 ? std::optional(score.median) : std::nullopt;
    };
    lines.push_back(
        {knob, static_cast<int>(its.size()), median(RankedBy::prediction), median(RankedBy::roofline)});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const KnobLine& a, const KnobLine& b) { return a.pairs > b.pairs; });
  return lines;
}

void count_verdicts_of(const PublishedTable& table, const Backtest& backtest, Ranking& ranking) {
  std::set<std::string> seen;
  for (const BacktestRow& row : backtest.rows) {
    const PublishedRun* const run = table.find(row.id);
    if (run == nullptr || !row.fits || row.ran_out_of_memory || !is_in_ranking_scope(*run)) continue;
    if (!seen.insert(row.id).second) continue;
    ++ranking.ran;
    ranking.said_not_to_fit += *row.fits == Fit::no;
  }
}

// Issues' bounds: behind neither baseline on the same pairs, the pick's loss, what a knob buys.
std::vector<RankingTarget> targets_of(const Ranking& ranking) {
  std::vector<RankingTarget> targets;
  constexpr double k_losses[] = {0.005, 0.01};
  for (std::size_t i = 0; i < ranking.groups.size(); ++i) {
    const RankedGroups& groups = ranking.groups[i];
    const std::string of = groups.same_count ? "same count" : "any count";
    const OrderScore& ours = groups.scores.front();
    for (const OrderScore& other : groups.scores)
      if (other.by != RankedBy::prediction)
        targets.push_back({"pairs in order, " + of + ", against the " + std::string(to_string(other.by)),
                           ours.in_order, other.in_order_of_ours, true});
    targets.push_back({"loss of the pick, " + of, ours.mean_regret, k_losses[i]});
  }
  targets.push_back({"what one knob buys: median error", ranking.scores.front().median, 0.30});
  targets.push_back({"median over knobs and sources", ranking.scores.front().median_of_medians, 0.40});
  targets.push_back(
      {"runs that ran, said not to fit", static_cast<double>(ranking.said_not_to_fit), 7, false, false});
  return targets;
}

}  // namespace

Ranking rank_published(const PublishedTable& table, const Backtest& backtest) {
  const Judges judges(backtest);
  const Runs runs = ranked_runs(table);
  Ranking ranking;
  ranking.rows = static_cast<int>(runs.size());
  for (const bool same_count : {true, false})
    ranking.groups.push_back(ranked_groups(judges, runs, same_count));
  const std::vector<KnobPair> pairs = knob_pairs(runs);
  ranking.knob_pairs = static_cast<int>(pairs.size());
  ranking.knobs = knob_lines(judges, pairs);
  for (const RankedBy by : {RankedBy::prediction, RankedBy::roofline})
    ranking.scores.push_back(knob_score(judges, by, pairs));
  count_verdicts_of(table, backtest, ranking);
  ranking.targets = targets_of(ranking);
  return ranking;
}

}  // namespace shardlab
