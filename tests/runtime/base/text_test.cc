// SHA-256 against the vectors of FIPS 180-4, the log, and JSON against an independent parser.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/base/log.h"
#include "runtime/base/sha256.h"

namespace topwork {
namespace text_test {

TEST_CASE("SHA-256 of the published vectors", "[base]") {
  const auto hex = [](const std::string& text) { return Sha256Hex(text.data(), text.size()); };
  CHECK(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hex(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not depend on how the bytes arrive, nor on the processor", "[base]") {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (size_t length = 0; length <= text.size(); length += 13) {
    const std::string whole = Sha256Hex(text.data(), length);
    for (size_t piece : {1u, 63u, 64u, 65u, 150u}) {
      for (bool portable : {false, true}) {
        Sha256 pieces(portable);
        for (size_t at = 0; at < length; at += piece) {
          pieces.Update(text.data() + at, std::min(piece, length - at));
        }
        std::string hex;
        for (uint8_t byte : pieces.Finish()) {
          const char* digits = "0123456789abcdef";
          hex += digits[byte >> 4];
          hex += digits[byte & 15];
        }
        INFO(length << " bytes in pieces of " << piece << ", portable " << portable);
        CHECK(hex == whole);
      }
    }
  }
}

struct Lines {
  std::vector<std::string> texts;
  std::vector<int> levels;
};

void Collect(void* user_data, int level, const char* message) {
  Lines* lines = static_cast<Lines*>(user_data);
  lines->texts.emplace_back(message);
  lines->levels.push_back(level);
}

TEST_CASE("the log passes what is urgent enough", "[base]") {
  Lines lines;
  SetLog(LogLevel::kWarning, Collect, &lines);
  Log(LogLevel::kInfo, "not this");
  Log(LogLevel::kError, "{} of {}", 3, std::string(3000, 'y'));
  SetLog(LogLevel::kSilent, Collect, &lines);
  Log(LogLevel::kError, "nor this");
  SetLog(LogLevel::kDebug, Collect, &lines);
  Log(LogLevel::kDebug, "last");
  SetLog(LogLevel::kWarning, nullptr, nullptr);
  REQUIRE(lines.texts.size() == 2);
  CHECK(lines.texts[0].substr(0, 6) == "3 of y");
  CHECK(lines.levels[0] == 1);
  CHECK(lines.texts[1] == "last");
}

TEST_CASE("the log takes one call at a time", "[base]") {
  Lines lines;  // Collect is not thread-safe: the thread sanitizer would see two calls at once
  SetLog(LogLevel::kInfo, Collect, &lines);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 200; ++k) Log(LogLevel::kInfo, "line {}", k);
    });
  }
  for (std::thread& thread : threads) thread.join();
  SetLog(LogLevel::kWarning, nullptr, nullptr);
  CHECK(lines.texts.size() == 800);
}

TEST_CASE("JSON reads back equal in another parser", "[base]") {
  const std::string odd = "quote\" slash\\ \n\t\x01 ü \xf0\x9f\x8c\xb3";
  const std::vector<double> numbers = {0.0,    -0.0,    0.1,
                                       1e300,  5e-324,  1.0 / 3.0,
                                       1e15,   -2.5,    std::numeric_limits<double>::max(),
                                       123456, 1.0e-10, static_cast<double>(0.1f)};
  JsonWriter writer;
  writer.BeginObject();
  writer.Key(odd);
  writer.String(odd);
  writer.Key("numbers");
  writer.BeginArray();
  for (double number : numbers) writer.Double(number);
  writer.EndArray();
  writer.Key("int");
  writer.Int(std::numeric_limits<int64_t>::min());
  writer.Key("rest");
  writer.BeginArray();
  writer.Bool(true);
  writer.Bool(false);
  writer.Null();
  writer.Double(std::nan(""));
  writer.Double(std::numeric_limits<double>::infinity());
  writer.BeginObject();
  writer.EndObject();
  writer.BeginArray();
  writer.EndArray();
  writer.EndArray();
  writer.EndObject();

  const nlohmann::json parsed = nlohmann::json::parse(writer.text());
  CHECK(parsed[odd] == odd);
  REQUIRE(parsed["numbers"].size() == numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    CHECK(parsed["numbers"][i].get<double>() == numbers[i]);
  }
  CHECK(parsed["int"].get<int64_t>() == std::numeric_limits<int64_t>::min());
  CHECK(parsed["rest"].dump() == "[true,false,null,null,null,{},[]]");
}

TEST_CASE("JSON replaces bytes that are not UTF-8", "[base]") {
  const std::vector<std::string> broken = {
      "\x80", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\xff", "\xe0\x80\x80"};
  for (const std::string& text : broken) {
    JsonWriter writer;
    writer.String(text);
    const nlohmann::json parsed = nlohmann::json::parse(writer.text());
    CHECK(parsed.get<std::string>().find("\xef\xbf\xbd") != std::string::npos);
  }
}

}  // namespace text_test
}  // namespace topwork
