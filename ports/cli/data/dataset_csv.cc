// Dataset of images listed in labels.csv: a header `file,…`, then one line an image.
//   file,label          the second of two columns is called label or class: the name of its class
//   file,NAME1,NAME2,…  one number for each NAME: 0 or 1 for several classes an image, else
//                       regression
// One more column may be called group: what the example has in common with others, see
// Dataset::has_groups.
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

// "column 3 ('red'): " of the file, for a field of a record that has lost its column of groups (0: it had none).
std::string Where(size_t field, size_t group_column, const std::string& name) {
  const size_t before = group_column > 0 && field >= group_column ? 1 : 0;
  return "column " + std::to_string(field + before + 1) + " ('" + name + "'): ";
}

// The number in a field, in the notation of C whatever the locale. `where`: begins messages.
float ParseNumber(const std::string& path, const CsvRecord& record, const std::string& text,
                  const std::string& name, const std::string& where) {
  if (text.empty()) Bad(path, record.line, where + "is empty; every column needs a number");
  if (text == "nan" || text == "NaN" || text == "NAN") {
    Bad(path, record.line, where + "is NaN; leave the image out, or give a number");
  }
  char* end = nullptr;
  const bool plain = text.find_first_not_of("0123456789+-.eE") == std::string::npos;
  const double value = plain ? std::strtod(text.c_str(), &end) : 0.0;
  if (!plain || end != text.c_str() + text.size()) {
    Bad(path, record.line,
        where + "'" + text + "' is not a number" +
            (name == "label" || name == "class"
                 ? ""
                 : " (class names go into a file of two columns, file,label)"));
  }
  if (!std::isfinite(static_cast<float>(value))) {
    Bad(path, record.line, where + text + " is beyond float32");
  }
  return static_cast<float>(value);
}

}  // namespace

// Takes the column `group` out of the records, where there is one; its number from 0, or 0.
size_t Dataset::ReadCsvGroups(const std::string& path, std::vector<CsvRecord>* records) {
  const std::vector<std::string>& header = (*records)[0].fields;
  const auto found = std::find_if(header.begin(), header.end(),
                                  [](const std::string& name) { return Lower(name) == "group"; });
  if (found == header.end()) return 0;
  const ptrdiff_t column = found - header.begin();
  for (size_t r = 0; r < records->size(); ++r) {
    CsvRecord& record = (*records)[r];
    const std::string name = record.fields[static_cast<size_t>(column)];
    if (name.empty()) {
      Bad(path, record.line,
          "column " + std::to_string(column + 1) +
              " ('group'): is empty; every image needs a group" +
              ", its own name where it has nothing in common with others");
    }
    if (r > 0) AddGroup(name, 1);
    record.fields.erase(record.fields.begin() + column);
  }
  return static_cast<size_t>(column);
}

void Dataset::OpenCsv(const std::string& path) {
  std::vector<CsvRecord> records = ReadCsv(path);
  if (records.empty()) {
    throw CliError(kExitData, path +
                                  ": is empty; it must begin with a line of column names, "
                                  "file,label or file,NAME1,NAME2");
  }
  const std::vector<std::string>& header = records[0].fields;
  CheckHeader(path, records[0]);
  if (records.size() == 1) {
    throw CliError(kExitData, path + ": lists no images; write one line for each below the first");
  }
  CheckImageInput();
  std::error_code error;
  for (size_t r = 1; r < records.size(); ++r) {
    const CsvRecord& record = records[r];
    if (record.fields.size() != header.size()) {
      Bad(path, record.line,
          "has " + CountText(static_cast<int64_t>(record.fields.size()), "field") +
              ", the first line has " + std::to_string(header.size()));
    }
    const std::string& file = record.fields[0];
    const fs::path image = fs::path(folder_) / fs::path(file);
    if (file.empty()) Bad(path, record.line, "column 1 ('file'): is empty");
    if (!fs::is_regular_file(image, error)) {
      Bad(path, record.line,
          "column 1 ('file'): there is no image '" + file +
              "' (names count from the folder of labels.csv)");
    }
    paths_.push_back(image.string());
    names_.push_back(file);
  }
  size_ = static_cast<int64_t>(paths_.size());
  const size_t group_column = ReadCsvGroups(path, &records);
  if (header.size() < 2) {
    Bad(path, records[0].line,
        "needs a column beside 'file' and 'group': label, or a number's name");
  }
  if (HoldsClassNames(header)) {
    ReadCsvLabels(path, records, group_column);
  } else {
    ReadCsvTargets(path, records, group_column);
  }
}

void Dataset::ReadCsvLabels(const std::string& path, const std::vector<CsvRecord>& records,
                            size_t group_column) {
  std::set<std::string> names;
  for (size_t r = 1; r < records.size(); ++r) {
    const std::string& name = records[r].fields[1];
    if (name.empty()) {
      Bad(path, records[r].line,
          Where(1, group_column, records[0].fields[1]) + "is empty; name a class");
    }
    names.insert(name);
  }
  class_names_.assign(names.begin(), names.end());
  for (size_t r = 1; r < records.size(); ++r) {
    const auto found =
        std::lower_bound(class_names_.begin(), class_names_.end(), records[r].fields[1]);
    labels_.push_back(found - class_names_.begin());
  }
}

void Dataset::ReadCsvTargets(const std::string& path, const std::vector<CsvRecord>& records,
                             size_t group_column) {
  class_names_.assign(records[0].fields.begin() + 1, records[0].fields.end());
  for (size_t r = 1; r < records.size(); ++r) {
    for (size_t c = 0; c < class_names_.size(); ++c) {
      const std::string& name = class_names_[c];
      targets_.push_back(ParseNumber(path, records[r], records[r].fields[c + 1], name,
                                     Where(c + 1, group_column, name)));
    }
  }
  FinishTargets();
}

}  // namespace cli
}  // namespace topwork
