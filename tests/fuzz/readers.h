// The targets' functions, one a file of targets/.
#pragma once

#include <string_view>

#include "tests/fuzz/fuzz_target.h"

namespace shardlab::fuzz {

Answer read_allocator_recording(std::string_view bytes);
Answer read_and_plan(std::string_view bytes);
Answer read_arguments(std::string_view bytes);
Answer read_calibration(std::string_view bytes);
Answer read_csv_text(std::string_view bytes);
Answer read_database(std::string_view bytes);
Answer read_expression(std::string_view bytes);
Answer read_figures(std::string_view bytes);
Answer read_flight_bytes(std::string_view bytes);
Answer read_foreign_text(std::string_view bytes);
Answer read_foreign_values(std::string_view bytes);
Answer read_header_of_safetensors(std::string_view bytes);
Answer read_lesson_text(std::string_view bytes);
Answer read_log_text(std::string_view bytes);
Answer read_machine_texts(std::string_view bytes);
Answer read_message_bytes(std::string_view bytes);
Answer read_model_config(std::string_view bytes);
Answer read_overrides(std::string_view bytes);
Answer read_packed_trace(std::string_view bytes);
Answer read_pickle_bytes(std::string_view bytes);
Answer read_plan_text(std::string_view bytes);
Answer read_profiler_text(std::string_view bytes);
Answer read_program_text(std::string_view bytes);
Answer read_published_rules(std::string_view bytes);
Answer read_rank_job_text(std::string_view bytes);
Answer read_record_file(std::string_view bytes);
Answer read_log_of_training(std::string_view bytes);
Answer read_safetensors_file(std::string_view bytes);
Answer read_safetensors_index(std::string_view bytes);
Answer read_scenario_text(std::string_view bytes);
Answer read_search_file(std::string_view bytes);
Answer read_shell_script(std::string_view bytes);
Answer read_short_text(std::string_view bytes);
Answer read_spool_file(std::string_view bytes);
Answer read_stored_text(std::string_view bytes);
Answer read_token_file(std::string_view bytes);
Answer read_yaml_text(std::string_view bytes);

}  // namespace shardlab::fuzz
