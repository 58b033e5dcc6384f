// JsonWriter: appends JSON text to a string. It escapes strings, prints numbers so that they read
// back equal, prints non-finite numbers as null, and sets the commas.
#ifndef TOPWORK_RUNTIME_BASE_JSON_H_
#define TOPWORK_RUNTIME_BASE_JSON_H_

#include <cstdint>
#include <string>

namespace topwork {

class JsonWriter {
 public:
  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  // Inside an object, before each value.
  void Key(const std::string& key);

  void String(const std::string& value);
  void Int(int64_t value);
  void Double(double value);
  void Bool(bool value);
  void Null();

  const std::string& text() const { return text_; }

 private:
  void Open(char bracket);
  void Close(char bracket);
  void Separate();
  void AppendQuoted(const std::string& value);
  std::string text_;
  bool after_value_ = false;
};

}  // namespace topwork

#endif  // TOPWORK_RUNTIME_BASE_JSON_H_
