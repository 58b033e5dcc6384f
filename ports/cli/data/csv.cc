// CSV: one pass over the bytes, a field at a time.
#include "ports/cli/data/csv.h"

#include "ports/cli/cli_error.h"
#include "ports/cli/files.h"

namespace topwork {
namespace cli {
namespace {

class CsvReader {
 public:
  CsvReader(const std::string& path, const std::vector<uint8_t>& bytes)
      : path_(path), bytes_(bytes) {
    const bool wide = bytes.size() >= 2 && (bytes[0] ^ bytes[1]) == 1 && bytes[0] >= 0xfe;
    if (wide) throw CliError(kExitData, path + ": is UTF-16 text; save it as UTF-8");
    if (bytes.size() >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf) at_ = 3;
  }

  std::vector<CsvRecord> Read() {
    std::vector<CsvRecord> records;
    while (at_ < bytes_.size()) {
      CsvRecord record;
      record.line = line_;
      bool quoted = false;
      do {
        record.fields.emplace_back();
        const bool field_quoted = ReadField(record.fields.size(), &record.fields.back());
        quoted = quoted || field_quoted;
      } while (TakeComma());
      TakeLineEnd();
      const bool blank = record.fields.size() == 1 && record.fields[0].empty() && !quoted;
      if (!blank) records.push_back(std::move(record));
    }
    return records;
  }

 private:
  bool AtEnd() const { return at_ == bytes_.size() || bytes_[at_] == '\n' || bytes_[at_] == '\r'; }

  [[noreturn]] void Fail(int64_t line, size_t column, const std::string& why) const {
    throw CliError(kExitData, path_ + ":" + std::to_string(line) + ": column " +
                                  std::to_string(column) + ": " + why);
  }

  void SkipSpaces() {
    while (at_ < bytes_.size() && (bytes_[at_] == ' ' || bytes_[at_] == '\t')) ++at_;
  }

  // Reads up to the comma or line end behind the field; true when it was quoted.
  bool ReadField(size_t column, std::string* field) {
    SkipSpaces();
    if (at_ < bytes_.size() && bytes_[at_] == '"') {
      ReadQuoted(column, field);
      SkipSpaces();
      if (AtEnd() || bytes_[at_] == ',') return true;
      Fail(line_, column, "text follows the closing quote; write a quote inside a field as \"\"");
    }
    while (!AtEnd() && bytes_[at_] != ',') {
      if (bytes_[at_] == '"') {
        Fail(line_, column,
             "a quote stands inside a field that is not quoted; quote the whole field and write "
             "the quote as \"\"");
      }
      *field += static_cast<char>(bytes_[at_++]);
    }
    field->erase(field->find_last_not_of(" \t") + 1);
    return false;
  }

  void ReadQuoted(size_t column, std::string* field) {
    const int64_t begin = line_;
    for (++at_; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '"') {
        ++at_;
        if (at_ == bytes_.size() || bytes_[at_] != '"') return;
      }
      const bool cr_of_crlf =
          bytes_[at_] == '\r' && at_ + 1 < bytes_.size() && bytes_[at_ + 1] == '\n';
      if (!cr_of_crlf && (bytes_[at_] == '\n' || bytes_[at_] == '\r')) ++line_;
      *field += static_cast<char>(bytes_[at_]);
    }
    Fail(begin, column, "the quote that opens this field is never closed");
  }

  bool TakeComma() {
    if (at_ == bytes_.size() || bytes_[at_] != ',') return false;
    ++at_;
    return true;
  }

  void TakeLineEnd() {
    if (at_ < bytes_.size() && bytes_[at_] == '\r') ++at_;
    const bool crlf = at_ > 0 && bytes_[at_ - 1] == '\r';
    if (at_ < bytes_.size() && bytes_[at_] == '\n') {
      ++at_;
    } else if (!crlf) {
      return;  // the end of the file
    }
    ++line_;
  }

  const std::string& path_;
  const std::vector<uint8_t>& bytes_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace

std::vector<CsvRecord> ReadCsv(const std::string& path) {
  const std::vector<uint8_t> bytes = ReadWholeFile(path);
  return CsvReader(path, bytes).Read();
}

std::string CsvLine(const std::vector<std::string>& fields) {
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    const bool spaced = !field.empty() && (field.front() == ' ' || field.back() == ' ');
    const bool quoted = spaced || field.find_first_of(",\"\r\n\t") != std::string::npos;
    line += i > 0 ? "," : "";
    if (quoted) line += '"';
    for (char c : field) line += quoted && c == '"' ? "\"\"" : std::string(1, c);
    if (quoted) line += '"';
  }
  return line + "\n";
}

}  // namespace cli
}  // namespace topwork
