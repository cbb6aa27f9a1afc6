// A lesson of every kind of step, over a scenario that predicts in milliseconds.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace shardlab::test {

inline constexpr const char* k_small_lesson_scenario = R"(name: small-lesson
model: { config: tiny-llama, sequence_length: 64 }
cluster: { device: cpu, ranks: 2, threads_per_rank: 1 }
parallel: { strategy: fsdp2 }
train: { micro_batch: 2, data: assets/data/licenses.txt }
measure: { warmup_steps: 1, steps: 2 }
)";

inline constexpr const char* k_small_lesson = R"(title: A small lesson
minutes: 2
able: press every button
scenarios:
  a: tiny.yaml
  b: { file: tiny.yaml, set: { train.micro_batch: 4 } }
steps:
  - text: |
      Two **ranks** hold {{ parameters(a) : million }} parameters in `shards`.

      - one item
      - another
  - look: { panel: memory, scenario: a, instruction: peak, highlight: activation, say: The peak. }
  - ask:
      question: What happens to the peak of twice the batch?
      choose:
        - answer: It falls
          right: peak_allocated(b) < peak_allocated(a)
          thought: More tokens leave more behind.
          source: a made-up thread, https://example.org/1
        - answer: It rises
          right: peak_allocated(b) > peak_allocated(a)
  - ask:
      question: How many ranks are there?
      number: ranks(a)
      tolerance: 1%
      wrong:
        - { value: ranks(a) / 2, thought: "That is each by itself.", source: "a made-up thread, https://example.org/2" }
  - ask:
      question: In which order do they come?
      order:
        - { answer: the optimizer, by: 'place(a, instruction(a, "OptimizerStep", 1))' }
        - { answer: the first gather, by: 'place(a, instruction(a, "AllGather", 1))' }
        - { answer: the last reduction, by: 'place(a, instruction(a, "ReduceScatter", -1))' }
      wrong:
        - { order: [1, 2, 3], thought: "That is backwards.", source: "a made-up thread, https://example.org/3" }
  - ask:
      question: Which instruction gathers first?
      instruction: 'instruction(a, "AllGather", 1)'
      scenario: a
      wrong:
        - { instruction: 'instruction(a, "AllGather", -1)', thought: "That is the last.", source: "a made-up thread, https://example.org/4" }
  - ask:
      question: Make the peak rise.
      change: a
      keys: [train.micro_batch]
      until: peak_allocated(changed) > peak_allocated(a)
      solution: { train.micro_batch: 4 }
      wrong:
        - { set: { train.micro_batch: 1 }, thought: "Less leaves less.", source: "a made-up thread, https://example.org/5" }
  - look: { panel: compare, scenario: [a, b], say: Side by side. }
  - run: { scenario: a, say: Train it., holds: [peak_allocated(run(a)) == peak_allocated(a)], after: "{{ peak_allocated(run(a)) }} as planned." }
  - try: { scenario: a, set: { train.micro_batch: 1 }, say: Try it. }
  - reveal: |
      | what | bytes |
      | --- | --- |
      | peak | {{ peak_allocated(a) }} |
)";

// In a new folder there.
inline std::filesystem::path write_small_lesson(const std::filesystem::path& folder,
                                                const std::string& name = "01-small") {
  const std::filesystem::path lesson = folder / name;
  std::filesystem::create_directories(lesson);
  std::ofstream(lesson / "tiny.yaml") << k_small_lesson_scenario;
  std::ofstream(lesson / "lesson.yaml") << k_small_lesson;
  return lesson;
}

// A course of one lesson.
inline std::filesystem::path write_small_course(const std::filesystem::path& folder) {
  write_small_lesson(folder);
  std::ofstream(folder / "course.yaml")
      << "parts:\n  - title: All\n    about: Everything.\n    lessons: [01-small]\n"
         "    coming:\n      - { title: Another, waits: its text }\n";
  return folder;
}

}  // namespace shardlab::test
