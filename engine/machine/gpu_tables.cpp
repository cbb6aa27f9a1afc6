#include "engine/machine/gpu_tables.h"

#include <algorithm>
#include <cctype>

#include "engine/base/csv.h"
#include "engine/base/parse.h"
#include "engine/machine/text_lines.h"

namespace shardlab {
namespace {

// A table of nvidia-smi: blanks behind its commas, units behind the names of its columns.
class SmiTable {
 public:
  explicit SmiTable(std::string_view text) {
    auto read = parse_csv(text, "nvidia-smi");
    if (read) table_ = *std::move(read);
  }

  std::size_t rows() const { return table_.records.size(); }

  std::string text(std::size_t row, std::string_view column) const {
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      const std::string name = trimmed(table_.columns[i]);
      if (name.substr(0, name.find(' ')) == column) return trimmed(table_.records[row].fields[i]);
    }
    return {};
  }

  // 0 for "N/A".
  std::int64_t number(std::size_t row, std::string_view column) const {
    const auto number = parse_integer(text(row, column));
    constexpr std::int64_t k_most = std::int64_t{1} << 40;
    return number && *number >= 0 && *number < k_most ? *number : 0;
  }

 private:
  CsvTable table_;
};

int capability_in(const std::string& text) {
  const auto number = parse_number(text);
  return number && *number > 0 && *number < 100 ? static_cast<int>(*number * 10 + 0.5) : 0;
}

std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    while (i + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0) ++i;
  }
  return plain;
}

bool is_gpu(std::string_view word) {
  constexpr std::string_view k_gpu = "GPU";
  return word.starts_with(k_gpu) && word.size() > k_gpu.size() &&
         std::all_of(word.begin() + k_gpu.size(), word.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

// How many columns of a header's line are GPUs, from the first on.
std::size_t gpu_columns(const std::vector<std::string_view>& words) {
  std::size_t columns = 0;
  while (columns < words.size() && is_gpu(words[columns])) ++columns;
  return columns;
}

}  // namespace

std::vector<MachineGpu> gpus_of(std::string_view text) {
  const SmiTable table(text);
  std::vector<MachineGpu> gpus;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    MachineGpu& gpu = gpus.emplace_back();
    gpu.index = static_cast<int>(std::min<std::int64_t>(table.number(row, "index"), 1 << 20));
    gpu.uuid = table.text(row, "uuid");
    gpu.name = table.text(row, "name");
    gpu.memory = mebibytes(table.number(row, "memory.total"));
    gpu.used = mebibytes(table.number(row, "memory.used"));
    gpu.capability = capability_in(table.text(row, "compute_cap"));
    gpu.lanes = static_cast<int>(std::min<std::int64_t>(table.number(row, "pcie.link.width.current"), 64));
    gpu.most_lanes = static_cast<int>(std::min<std::int64_t>(table.number(row, "pcie.link.width.max"), 64));
  }
  return gpus;
}

std::vector<GpuProcess> gpu_processes_of(std::string_view text) {
  const SmiTable table(text);
  std::vector<GpuProcess> processes;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    processes.push_back({table.text(row, "gpu_uuid"), table.number(row, "pid"),
                         table.text(row, "process_name"),
                         mebibytes(table.number(row, "used_gpu_memory") + table.number(row, "used_memory"))});
  }
  return processes;
}

GpuMatrix gpu_matrix_of(std::string_view text) {
  const std::string plain = without_colours(text);
  GpuMatrix matrix;
  std::size_t columns = 0;
  for (const std::string_view line : lines_of(plain)) {
    const auto words = words_in(line);
    if (columns == 0) {
      columns = gpu_columns(words);
      continue;
    }
    if (words.size() <= columns || !is_gpu(words.front())) break;
    matrix.emplace_back(words.begin() + 1, words.begin() + 1 + static_cast<std::ptrdiff_t>(columns));
  }
  return matrix.size() == columns ? matrix : GpuMatrix();
}

}  // namespace shardlab
