// Checks hash.cuh against the partition numbers that libcudf gave (src/test/resources/golden), on the host.
// g++ -std=c++17 -I ../../main/cuda golden_check.cpp && ./a.out libcudf-hash-input.csv libcudf-hash-partitions.csv
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "partition_source.cuh"

using namespace millrace;
using Rows = std::vector<std::vector<std::string>>;

static Rows read_csv(const char* path, std::vector<std::string>& heading) {
  std::ifstream file(path);
  std::string line, cell;
  Rows rows;
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    while (std::getline(stream, cell, ',')) cells.push_back(cell);
    if (heading.empty()) heading = cells; else rows.push_back(cells);
  }
  return rows;
}

struct HostColumn {
  KeyColumn key{};
  std::vector<uint8_t> data, validity;
  std::vector<int32_t> offsets{0};
};

static HostColumn column_of(const Rows& rows, size_t at, const std::string& name) {
  static const std::map<std::string, std::pair<int, int>> types = {
      {"int8", {KEY_INT8, 1}}, {"int16", {KEY_INT16, 2}}, {"int32", {KEY_INT32, 4}}, {"int64", {KEY_INT64, 8}},
      {"float32_bits", {KEY_FLOAT32, 4}}, {"float64_bits", {KEY_FLOAT64, 8}}, {"bool", {KEY_BOOL, 1}},
      {"string_utf8_hex", {KEY_STRING, 0}}, {"timestamp_us", {KEY_TIMESTAMP_MICROS, 8}},
      {"decimal64_unscaled", {KEY_DECIMAL64, 8}}};
  HostColumn column;
  auto [type, width] = types.at(name);
  column.validity.resize(rows.size() / 8 + 1);
  for (size_t r = 0; r < rows.size(); ++r) {
    const std::string& cell = rows[r][at];
    bool null = cell == "null";
    if (!null) column.validity[r / 8] |= 1 << (r % 8);
    if (type == KEY_STRING) {
      for (size_t i = 1; !null && i + 1 < cell.size(); i += 2) {
        column.data.push_back(static_cast<uint8_t>(std::stoi(cell.substr(i, 2), nullptr, 16)));
      }
      column.offsets.push_back(static_cast<int32_t>(column.data.size()));
    } else {
      int64_t value = null ? 99 : cell == "true" ? 1 : cell == "false" ? 0 : std::stoll(cell);
      const uint8_t* bytes = reinterpret_cast<const uint8_t*>(&value);
      column.data.insert(column.data.end(), bytes, bytes + width);
    }
  }
  column.key.type = type;
  column.key.parent = NO_PARENT;
  return column;
}

int main(int, char** argv) {
  std::vector<std::string> names, headings;
  Rows input = read_csv(argv[1], names);
  Rows expected = read_csv(argv[2], headings);
  std::map<std::string, HostColumn> columns;
  for (size_t c = 0; c < names.size(); ++c) columns[names[c]] = column_of(input, c, names[c]);
  long wrong = 0;
  for (size_t h = 0; h < headings.size(); ++h) {
    bool identity = headings[h].rfind("identity", 0) == 0;
    std::string keys = headings[h].substr(identity ? strlen("identity_p16_") : strlen("murmur3_seed0_p16_"));
    PartitionArguments arguments{};
    arguments.rule.hash_function = identity ? HASH_IDENTITY : HASH_MURMUR3_32;
    arguments.rule.numbering = NUMBER_BY_MASK;
    arguments.rule.partitions = 16;
    std::stringstream stream(keys);
    for (std::string name; std::getline(stream, name, '+');) {
      HostColumn& column = columns.at(name);
      KeyColumn key = column.key;
      key.data = reinterpret_cast<uint64_t>(column.data.data());
      key.offsets = reinterpret_cast<uint64_t>(column.offsets.data());
      key.validity = reinterpret_cast<uint64_t>(column.validity.data());
      arguments.key[arguments.key_columns++] = key;
    }
    long bad = 0;
    for (size_t r = 0; r < input.size(); ++r) {
      if (partition_of_any_keys(arguments, static_cast<int32_t>(r)) != std::stoul(expected[r][h])) ++bad;
    }
    printf("%-50s %ld wrong of %zu\n", headings[h].c_str(), bad, input.size());
    wrong += bad;
  }
  return wrong == 0 ? 0 : 1;
}
