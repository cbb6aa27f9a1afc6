#include "simulator/search/why_not.h"

#include <fmt/format.h>

namespace shardlab {

Result<std::vector<std::string>> split_settings(const std::string& text) {
  std::vector<std::string> settings(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (c == ',' && depth == 0)
      settings.emplace_back();
    else if (c != ' ' || !settings.back().empty())
      settings.back() += c;
  }
  for (const std::string& each : settings) {
    if (each.find('=') == std::string::npos || each.front() == '=')
      return bad_input("--why", "'" + each + "' is no key=value",
                       "for example --why train.micro_batch=8,activation.checkpoint=none");
  }
  return settings;
}

Result<WhyNot> why_not(const SearchSpace& space, Evaluator& evaluator, const Candidate& answer,
                       const std::vector<std::string>& settings) {
  WhyNot why;
  why.settings = settings;
  const SearchQuestion& question = space.question();
  Configuration configuration = space.with(answer.configuration.index, settings);
  if (!configuration.divides) {
    why.impossible =
        fmt::format("micro-batches of {} on {} GPUs do not divide the global batch of {}",
                    configuration.micro_batch, configuration.gpus, question.global_batch.value_or(0));
    return why;
  }
  const std::int64_t batch =
      saturated_product(configuration.micro_batch, configuration.accumulation, configuration.gpus);
  if (question.global_batch && batch != *question.global_batch)
    why.other_batch = fmt::format("a step has {} sequences, not the {} that the search keeps", batch,
                                  *question.global_batch);
  SHARDLAB_TRY(FullPrediction of_answer, evaluator.predict(answer.configuration.settings));
  why.answer = answer;
  why.answer_run = std::move(of_answer.run);
  Result<FullPrediction> asked = evaluator.predict(configuration.settings);
  if (!asked) {
    if (asked.error().kind == ErrorKind::internal) return fail(std::move(asked).error());
    why.impossible = reason_text(asked.error());
    return why;
  }
  why.asked = candidate_of(question, std::move(configuration), asked->figures);
  why.asked_run = std::move(asked->run);
  return why;
}

}  // namespace shardlab
