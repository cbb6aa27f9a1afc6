#include <array>

#include "simulator/lessons/figure_list.h"

namespace shardlab::lessons {
namespace {

using Rest = const std::vector<Value>&;

Result<Value> loss(const FigureSubject& subject, bool last) {
  const std::vector<double>& losses = subject.summary->losses;
  if (losses.empty()) return not_possible({}, "a prediction has no loss", "ask it of run(a)");
  return number_value(last ? losses.back() : losses.front());
}

Result<Value> borders(const FigureSubject& subject, std::int64_t MemoryDifference::*member) {
  if (subject.comparison == nullptr || !subject.comparison->memory)
    return not_possible({}, "only a real run is compared with its prediction", "ask it of run(a)");
  return number_value(static_cast<double>((*subject.comparison->memory).*member));
}

constexpr std::array k_runs_figures = {
    FigureFunction{"first_loss", "run(a)", 0, 0, "the loss of the first step",
                   [](const FigureSubject& subject, Rest) { return loss(subject, false); }},
    FigureFunction{"last_loss", "run(a)", 0, 0, "the loss of the last step",
                   [](const FigureSubject& subject, Rest) { return loss(subject, true); }},
    FigureFunction{
        "moments", "run(a)", 0, 0, "moments at which live memory was compared with the plan's",
        [](const FigureSubject& subject, Rest) { return borders(subject, &MemoryDifference::borders); }},
    FigureFunction{
        "equal_moments", "run(a)", 0, 0, "those at which both are equal, to the byte",
        [](const FigureSubject& subject, Rest) { return borders(subject, &MemoryDifference::equal); }},
};

}  // namespace

std::span<const FigureFunction> figures_of_runs() {
  return k_runs_figures;
}

}  // namespace shardlab::lessons
