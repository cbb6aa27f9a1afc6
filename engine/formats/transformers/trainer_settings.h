// Settings of a scenario from TrainingArguments.
//
// Source: transformers 5.23.0 and 4.57.6, training_args.py.
#pragma once

#include "engine/formats/tools/import_subject.h"
#include "engine/formats/tools/read_back.h"
#include "engine/scenario/parallel_words.h"

namespace shardlab {

ReadBack read_trainer_batch(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_accumulation(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_optimizer(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_learning_rate(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_weight_decay(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_betas(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_epsilon(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_max_norm(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_seed(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_bf16(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_compile(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_workers(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_pinned_batches(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_cpu(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_bucket_size(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_ddp_flag(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_ddp_timeout(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_resume(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_strategy(const ImportSubject& subject, const ForeignValue* value);

// Inside fsdp_config.
ReadBack read_trainer_resharding(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_offload(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_policy(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_least(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_loading(const ImportSubject& subject, const ForeignValue* value);
ReadBack read_trainer_state_dict(const ImportSubject& subject, const ForeignValue* value);

// Whether the words of `fsdp`, of 4.x and of the old form in 5, hold one.
bool has_fsdp_word(const ImportSubject& subject, std::string_view word);
std::vector<std::string> fsdp_words(const ImportSubject& subject);

// FSDP1's sharding as the Trainer passes it on.
std::optional<Fsdp1Sharding> trainer_sharding(const ImportSubject& subject);

}  // namespace shardlab
