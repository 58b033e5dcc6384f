// Dataset of images or sounds listed in labels.csv: a header `file,…`, then one line an image, or a
// part of a sound.
//   file,label          the second of two columns is called label or class: the name of its class
//   file,NAME1,NAME2,…  one number for each NAME: 0 or 1 for several classes an example, else
//                       regression
// One more column may be called group: what the example has in common with others, see
// Dataset::has_groups. Of sounds, the columns start and end give the part in seconds; where they are
// empty it begins or ends with the file.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "ports/cli/cli_error.h"
#include "ports/cli/data/csv.h"
#include "ports/cli/data/dataset.h"
#include "ports/cli/terminal.h"

namespace topwork {
namespace cli {

// The file; columns that are read by name leave it.
struct CsvTable {
  std::string path;
  std::vector<CsvRecord> records;
  std::vector<size_t> columns;  // number in the file, from 1 on, of those that are left

  const std::vector<std::string>& header() const { return records[0].fields; }
};

namespace {

namespace fs = std::filesystem;

[[noreturn]] void Bad(const std::string& path, int64_t line, const std::string& why) {
  throw CliError(kExitData, path + ":" + std::to_string(line) + ": " + why);
}

std::string Lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// One class name a line, or numbers?
bool HoldsClassNames(const std::vector<std::string>& header) {
  return header.size() == 2 && (Lower(header[1]) == "label" || Lower(header[1]) == "class");
}

void CheckHeader(const std::string& path, const CsvRecord& header) {
  const std::vector<std::string>& names = header.fields;
  if (names.size() == 1 && names[0].find_first_of(";\t") != std::string::npos) {
    Bad(path, header.line, "fields must be separated by commas, not by semicolons or tabs");
  }
  if (Lower(names[0]) != "file") {
    Bad(path, header.line,
        "the first line must name the columns, the first of them 'file', as in "
        "file,label or file,NAME1,NAME2; it is '" +
            names[0] + "'");
  }
  if (names.size() < 2) {
    Bad(path, header.line, "needs a column beside 'file': label, or a name for each number");
  }
  std::set<std::string> seen;
  for (size_t c = 1; c < names.size(); ++c) {
    const std::string column = "column " + std::to_string(c + 1);
    if (names[c].empty()) Bad(path, header.line, column + " has no name");
    if (!seen.insert(names[c]).second) {
      Bad(path, header.line, column + " has the name of another one, '" + names[c] + "'");
    }
  }
}

// "column 3 ('red'): " of the file.
std::string Where(const CsvTable& table, size_t field) {
  return "column " + std::to_string(table.columns[field]) + " ('" + table.header()[field] + "'): ";
}

// The field of a column's name, in any case; 0 where there is none.
size_t FindColumn(const CsvTable& table, const std::string& name) {
  const std::vector<std::string>& header = table.header();
  const auto found = std::find_if(header.begin(), header.end(),
                                  [&](const std::string& column) { return Lower(column) == name; });
  return found == header.end() ? 0 : static_cast<size_t>(found - header.begin());
}

void RemoveColumn(CsvTable* table, size_t field) {
  const ptrdiff_t at = static_cast<ptrdiff_t>(field);
  for (CsvRecord& record : table->records) record.fields.erase(record.fields.begin() + at);
  table->columns.erase(table->columns.begin() + at);
}

// The number, in the notation of C whatever the locale; false for text that is none.
bool ParseNumber(const std::string& text, double* value) {
  char* end = nullptr;
  const bool plain = text.find_first_not_of("0123456789+-.eE") == std::string::npos;
  *value = plain ? std::strtod(text.c_str(), &end) : 0.0;
  return plain && end == text.c_str() + text.size();
}

float ParseTarget(const CsvTable& table, const CsvRecord& record, size_t field) {
  const std::string& text = record.fields[field];
  const std::string& name = table.header()[field];
  const std::string where = Where(table, field);
  if (text.empty()) Bad(table.path, record.line, where + "is empty; every column needs a number");
  if (text == "nan" || text == "NaN" || text == "NAN") {
    Bad(table.path, record.line, where + "is NaN; leave the example out, or give a number");
  }
  double value = 0.0;
  if (!ParseNumber(text, &value)) {
    Bad(table.path, record.line,
        where + "'" + text + "' is not a number" +
            (name == "label" || name == "class"
                 ? ""
                 : " (class names go into a file of two columns, file,label)"));
  }
  if (!std::isfinite(static_cast<float>(value))) {
    Bad(table.path, record.line, where + text + " is beyond float32");
  }
  return static_cast<float>(value);
}

// Seconds of a field that may be empty.
double ParseSeconds(const CsvTable& table, const CsvRecord& record, size_t field, double if_empty) {
  const std::string& text = record.fields[field];
  double value = 0.0;
  if (text.empty()) return if_empty;
  if (ParseNumber(text, &value) && value >= 0.0) return value;
  Bad(table.path, record.line,
      Where(table, field) + "'" + text + "' is no time in seconds from 0 on, such as 1.25");
}

// One line must have what the first one names.
void CheckFields(const CsvTable& table) {
  const size_t n = table.header().size();
  for (const CsvRecord& record : table.records) {
    if (record.fields.size() == n) continue;
    Bad(table.path, record.line,
        "has " + CountText(static_cast<int64_t>(record.fields.size()), "field") +
            ", the first line has " + std::to_string(n));
  }
}

}  // namespace

// Takes the column `group` out of the table, where there is one.
void Dataset::ReadCsvGroups(CsvTable* table) {
  const size_t column = FindColumn(*table, "group");
  if (column == 0) return;
  for (size_t r = 1; r < table->records.size(); ++r) {
    const std::string& name = table->records[r].fields[column];
    if (name.empty()) {
      Bad(table->path, table->records[r].line,
          Where(*table, column) + "is empty; every " + (has_sounds() ? "sound" : "image") +
              " needs a group, its own name where it has nothing in common with others");
    }
    AddGroup(name, 1);
  }
  RemoveColumn(table, column);
}

// Takes the columns `start` and `end` out of the table: what each line names.
std::vector<SoundPart> Dataset::ReadCsvParts(CsvTable* table) const {
  std::vector<SoundPart> parts;
  for (size_t r = 1; r < table->records.size(); ++r) {
    const std::string where = table->path + ":" + std::to_string(table->records[r].line) + ": ";
    parts.push_back({paths_[r - 1], 0.0, -1.0, where});
  }
  for (const bool is_start : {true, false}) {
    const size_t column = FindColumn(*table, is_start ? "start" : "end");
    if (column == 0) continue;
    for (size_t r = 1; r < table->records.size(); ++r) {
      double* const seconds = is_start ? &parts[r - 1].start : &parts[r - 1].end;
      *seconds = ParseSeconds(*table, table->records[r], column, *seconds);
    }
    RemoveColumn(table, column);
  }
  return parts;
}

void Dataset::ReadCsvFiles(const CsvTable& table) {
  std::error_code error;
  for (size_t r = 1; r < table.records.size(); ++r) {
    const CsvRecord& record = table.records[r];
    const std::string& file = record.fields[0];
    const fs::path path = fs::path(folder_) / fs::path(file);
    if (file.empty()) Bad(table.path, record.line, "column 1 ('file'): is empty");
    if (!fs::is_regular_file(path, error)) {
      Bad(table.path, record.line,
          std::string("column 1 ('file'): there is no ") + (IsSoundPath(file) ? "sound" : "image") +
              " '" + file + "' (names count from the folder of labels.csv)");
    }
    paths_.push_back(path.string());
    names_.push_back(file);
  }
  size_ = static_cast<int64_t>(paths_.size());
}

void Dataset::OpenCsv(const std::string& path) {
  CsvTable table = {path, ReadCsv(path), {}};
  if (table.records.empty()) {
    throw CliError(kExitData, path +
                                  ": is empty; it must begin with a line of column names, "
                                  "file,label or file,NAME1,NAME2, for sounds "
                                  "file,start,end,class");
  }
  CheckHeader(path, table.records[0]);
  if (table.records.size() == 1) {
    throw CliError(kExitData, path +
                                  ": lists no images or sounds; write one line for each below the "
                                  "first");
  }
  for (size_t c = 1; c <= table.header().size(); ++c) table.columns.push_back(c);
  CheckFields(table);
  ReadCsvFiles(table);
  CheckFiles();
  ReadCsvGroups(&table);
  std::vector<SoundPart> parts;
  if (has_sounds()) parts = ReadCsvParts(&table);
  if (table.header().size() < 2) {
    Bad(path, table.records[0].line,
        has_sounds() ? "needs a column beside 'file', 'start', 'end' and 'group': class, or a "
                       "number's name"
                     : "needs a column beside 'file' and 'group': label, or a number's name");
  }
  if (HoldsClassNames(table.header())) {
    ReadCsvLabels(table);
  } else {
    ReadCsvTargets(table);
  }
  if (has_sounds()) CutSounds(std::move(parts));
}

void Dataset::ReadCsvLabels(const CsvTable& table) {
  std::set<std::string> names;
  for (size_t r = 1; r < table.records.size(); ++r) {
    const std::string& name = table.records[r].fields[1];
    if (name.empty()) {
      Bad(table.path, table.records[r].line, Where(table, 1) + "is empty; name a class");
    }
    names.insert(name);
  }
  class_names_.assign(names.begin(), names.end());
  for (size_t r = 1; r < table.records.size(); ++r) {
    const auto found =
        std::lower_bound(class_names_.begin(), class_names_.end(), table.records[r].fields[1]);
    labels_.push_back(found - class_names_.begin());
  }
}

void Dataset::ReadCsvTargets(const CsvTable& table) {
  class_names_.assign(table.header().begin() + 1, table.header().end());
  for (size_t r = 1; r < table.records.size(); ++r) {
    for (size_t c = 0; c < class_names_.size(); ++c) {
      targets_.push_back(ParseTarget(table, table.records[r], c + 1));
    }
  }
  FinishTargets();
}

}  // namespace cli
}  // namespace topwork
