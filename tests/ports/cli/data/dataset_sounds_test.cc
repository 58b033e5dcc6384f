// Labelled sounds: folders of classes and labels.csv, whose windows are the examples.
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ports/cli/data/dataset.h"
#include "tests/ports/cli/data/sounds.h"
#include "tests/ports/cli/folder.h"

#ifdef TW_HAVE_SOUNDS

namespace topwork {
namespace cli_dataset_sounds_test {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using cli::Dataset;
using cli::Reading;
using cli_test::Failure;
using cli_test::Folder;
using cli_test::SoundInput;
using cli_test::Tone;

constexpr int kFormat = cli_test::kWav | cli_test::kFloat;

void WriteTone(const Folder& folder, const std::string& name, double frequency, double seconds) {
  const std::filesystem::path path = std::filesystem::path(folder.path()) / name;
  std::filesystem::create_directories(path.parent_path());
  cli_test::WriteWav(path.string(), Tone(frequency, seconds, 16000), 16000, 1, kFormat);
}

std::vector<float> Floats(const std::vector<uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Dataset Open(const Folder& folder, double hop = 0.0) {
  Reading reading;
  reading.sounds.hop = hop;
  return Dataset::Open(folder.path(), SoundInput({1, 8000}), reading);
}

TEST_CASE("dataset: sounds in folders give windows, and each file is a group", "[cli]") {
  const Folder folder;
  WriteTone(folder, "low/b.wav", 300, 1.2);
  WriteTone(folder, "low/a.WAV", 400, 0.2);
  WriteTone(folder, "high/a.wav", 3000, 1.0);
  folder.Write("low/notes.txt", "no sound");
  folder.Write("low/c.mp3", "not read");
  const Dataset data = Open(folder);
  CHECK(data.has_sounds());
  CHECK_FALSE(data.has_images());
  CHECK(data.class_names() == std::vector<std::string>{"high", "low"});
  CHECK(data.labels() == std::vector<int64_t>{0, 0, 1, 1, 1, 1});
  CHECK(data.Name(1) == "high/a.wav[0.5-1 s]");
  CHECK(data.Name(2) == "low/a.WAV[0-0.2 s]");
  CHECK(data.Name(5) == "low/b.wav[1-1.2 s]");
  CHECK(data.group(0) == data.group(1));
  CHECK(data.group(1) != data.group(3));
  CHECK(data.group(3) == data.group(5));
  CHECK(data.group_names().at(data.group(5)) == "low/b.wav");
  const std::vector<float> tone = Tone(300, 1.2, 16000);
  std::vector<float> last(tone.begin() + 16000, tone.end());
  last.resize(8000, 0.0f);
  CHECK(Floats(data.Read(5)) == last);
  CHECK_THAT(data.note(), StartsWith("1 file was passed over, as only .jpg, .png, .bmp, .wav and "
                                     ".flac are read; the first is ") &&
                              EndsWith("low/c.mp3; windows of 8000 samples (0.5 s) at 16000 Hz "
                                       "(assumed)"));
  CHECK(Open(folder, 0.25).size() == 3 + 1 + 4);
  // The windows that are kept are the ones that were chosen.
  Dataset kept = Open(folder);
  kept.Keep({5, 0});
  CHECK(kept.Name(0) == "low/b.wav[1-1.2 s]");
  CHECK(Floats(kept.Read(0)) == last);
  CHECK(kept.labels() == std::vector<int64_t>{1, 0});
  CHECK(kept.group(0) == data.group(5));
}

TEST_CASE("dataset: parts of long sounds have classes, times and groups", "[cli]") {
  const Folder folder;
  WriteTone(folder, "long.wav", 300, 3.0);
  WriteTone(folder, "more/b.wav", 300, 1.0);
  folder.Write("labels.csv",
               "file,start,end,class\nlong.wav,0,1,low\nlong.wav,1.75,,high\nmore/b.wav,,,low\n");
  const Dataset data = Open(folder);
  CHECK(data.labels() == std::vector<int64_t>{1, 1, 0, 0, 0, 1, 1});
  CHECK(data.Name(2) == "long.wav[1.75-2.25 s]");
  CHECK(data.Name(4) == "long.wav[2.75-3 s]");
  CHECK(data.group(0) == data.group(4));
  CHECK(data.group(0) != data.group(5));
  const std::vector<float> tone = Tone(300, 3.0, 16000);
  CHECK(Floats(data.Read(2)) == std::vector<float>(tone.begin() + 28000, tone.begin() + 36000));
  CHECK(data.SoundsCsv({"a", "b", "c", "d", "e", "f", "g"}) ==
        "file,start,end,class\nlong.wav,0.000000,0.500000,a\nlong.wav,0.500000,1.000000,b\n"
        "long.wav,1.750000,2.250000,c\nlong.wav,2.250000,2.750000,d\n"
        "long.wav,2.750000,3.000000,e\nmore/b.wav,0.000000,0.500000,f\n"
        "more/b.wav,0.500000,1.000000,g\n");
  // What SoundsCsv writes is the same data again.
  folder.Write("labels.csv", data.SoundsCsv({"l", "l", "h", "h", "h", "l", "l"}));
  const Dataset again = Open(folder);
  REQUIRE(again.size() == data.size());
  for (int64_t i = 0; i < data.size(); ++i) {
    CHECK(again.Name(i) == data.Name(i));
    CHECK(again.Read(i) == data.Read(i));
  }
  // Numbers in place of a class, groups of their own, and whole files.
  folder.Write("labels.csv",
               "file,group,start,end,rain,wind\nlong.wav,north,0,1,1,0\nmore/b.wav,north,,,1,1\n");
  const Dataset several = Open(folder);
  CHECK(several.targets_are_binary());
  CHECK(several.class_names() == std::vector<std::string>{"rain", "wind"});
  CHECK(several.size() == 4);
  CHECK(several.targets(3)[1] == 1.0f);
  CHECK(several.group(0) == several.group(3));
  CHECK_THAT(several.SoundsCsv({"a", "b", "c", "d"}),
             StartsWith("file,start,end,class,group\nlong.wav,0.000000,0.500000,a,north\n"));
  folder.Write("labels.csv", "file,label\nlong.wav,low\nmore/b.wav,high\n");
  CHECK(Open(folder).size() == 8);
}

TEST_CASE("dataset: what is wrong with labels of sounds is told with its line", "[cli]") {
  const Folder folder;
  WriteTone(folder, "a.wav", 300, 1.0);
  folder.Write("text.wav", "this is a text");
  folder.Write("empty.flac", "");
  folder.Write("picture.png", "no picture");
  const std::pair<const char*, const char*> cases[] = {
      {"file,start,end,class\na.wav,0,1\n", ":2: has 3 fields, the first line has 4"},
      {"file,start,end,class\na.wav,0,1,\n", ":2: column 4 ('class'): is empty; name a class"},
      {"file,start,end,class\na.wav,x,1,low\n",
       ":2: column 2 ('start'): 'x' is no time in seconds from 0 on"},
      {"file,start,end,class\na.wav,-1,1,low\n", ":2: column 2 ('start'): '-1' is no time"},
      {"file,start,end,class\na.wav,0,1,low\na.wav,0,9,low\n", ":3: "},
      {"file,start,end,class\nb.wav,0,1,low\n", ":2: column 1 ('file'): there is no sound 'b.wav'"},
      {"file,start,end,class\ntext.wav,0,1,low\n", ":2: "},
      {"file,start,end\na.wav,0,1\n", ":1: needs a column beside 'file', 'start', 'end'"},
  };
  const std::string path = folder.path() + "/labels.csv";
  const auto refusal = [&](const char* csv) {
    folder.Write("labels.csv", csv);
    return Failure([&] { Open(folder); });
  };
  for (const auto& [csv, text] : cases) {
    CAPTURE(csv);
    CHECK_THAT(refusal(csv), StartsWith("5 " + path + text));
  }
  CHECK_THAT(refusal(cases[4].first), Contains("a.wav: lasts 1.000 s; 0 to 9 s is not in it"));
  CHECK_THAT(refusal(cases[6].first), Contains("text.wav: not a readable WAV or FLAC file"));
  CHECK_THAT(refusal("file,start,end,class\na.wav,0,1,x\nempty.flac,,,y\n"),
             Contains("labels.csv:3: ") && Contains("empty.flac: is empty"));
  CHECK_THAT(refusal("file,class\na.wav,x\npicture.png,y\n"),
             Contains("holds images and sounds") && Contains("picture.png"));
}

TEST_CASE("dataset: sounds without labels, and folders of both kinds", "[cli]") {
  const Folder folder;
  WriteTone(folder, "deep/a.wav", 300, 1.0);
  WriteTone(folder, "b.wav", 300, 0.75);
  const Dataset data = Dataset::OpenUnlabelled(folder.path(), SoundInput({1, 8000}), Reading());
  CHECK(data.size() == 4);
  CHECK(data.labels().empty());
  CHECK(data.Name(1) == "b.wav[0.5-0.75 s]");
  folder.Write("deep/a.png", "no picture");
  CHECK_THAT(Failure([&] {
               Dataset::OpenUnlabelled(folder.path(), SoundInput({1, 8000}), Reading());
             }),
             Contains("holds images and sounds"));
  CHECK_THAT(Failure([&] {
               Dataset::Open(folder.path(), SoundInput({1, 49, 10, 1}), Reading());
             }),
             Contains("holds images and sounds"));
  std::filesystem::remove(folder.path() + "/deep/a.png");
  CHECK_THAT(Failure([&] {
               Dataset::Open(folder.path(), SoundInput({1, 49, 10, 1}), Reading());
             }),
             StartsWith("5 " + folder.path() + ": holds sounds, but the model's input"));
}

TEST_CASE("dataset: a key of a sound changes with what is read of it", "[cli]") {
  const Folder folder;
  WriteTone(folder, "low/a.wav", 300, 2.0);
  WriteTone(folder, "high/a.wav", 300, 2.0);
  std::map<std::string, int> keys;
  Reading reading;
  const auto count = [&] {
    const Dataset data = Dataset::Open(folder.path(), SoundInput({1, 8000}), reading);
    for (int64_t i = 0; i < data.size(); ++i) ++keys[data.Key(i)];
  };
  count();
  CHECK(keys.size() == 8);
  count();
  CHECK(keys.size() == 8);
  reading.sounds.level = -20.0;
  count();
  CHECK(keys.size() == 16);
  reading.sounds.rate = 8000;
  count();
  CHECK(keys.size() == 16 + 4);
}

}  // namespace cli_dataset_sounds_test
}  // namespace topwork

#endif
