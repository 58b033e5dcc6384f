// Labelled data: folders of images, labels.csv and arrays. What is refused of folders and arrays of
// labels is in errors_test.py.
#include "ports/cli/data/dataset.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/ports/cli/folder.h"

namespace topwork {
namespace cli_dataset_test {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using cli::Dataset;
using cli::EncodeNpy;
using cli_test::Failure;
using cli_test::Folder;
using cli_test::FromHex;

const char kGreyPng[] =  // 2 × 1: 10, 200
    "89504e470d0a1a0a0000000d4948445200000002000000010800000000d14920560000000b49444154789c63e03a01"
    "0000df00d34b21a5490000000049454e44ae426082";

tw_tensor_info Input(const std::vector<int32_t>& dims) {
  tw_tensor_info info{};
  info.struct_size = sizeof(info);
  info.name = "input";
  info.dtype = TW_DTYPE_FLOAT32;
  info.rank = static_cast<int32_t>(dims.size());
  std::memcpy(info.dims, dims.data(), dims.size() * sizeof(int32_t));
  std::memcpy(info.open_dims, dims.data(), dims.size() * sizeof(int32_t));
  return info;
}

std::vector<float> Floats(const std::vector<uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_CASE("dataset: folders are classes, sorted; other files are passed over", "[cli]") {
  const Folder folder;
  const std::vector<uint8_t> png = FromHex(kGreyPng);
  folder.Write("pear/2.png", png);
  folder.Write("pear/1.PNG", png);
  folder.Write("apple/b.png", png);
  folder.Write("apple/notes.txt", "not an image");
  folder.Write(".thumbnails/x.png", png);
  folder.Write("empty_class/readme.md", "no image here");
  folder.Write("pear/._1.PNG", "what an archiver leaves");
  folder.Write("stray.png", png);
  cli::PixelScale scale;
  scale.mean = {10};
  scale.std = {10};
  // A batch of eight in the model: one example is read all the same.
  const Dataset data = Dataset::Open(folder.path(), Input({8, 1, 2, 1}), {scale, {}});
  CHECK(data.has_images());
  CHECK(data.class_names() == std::vector<std::string>{"apple", "pear"});
  CHECK(data.labels() == std::vector<int64_t>{0, 1, 1});
  CHECK(data.ClassCounts() == std::vector<int64_t>{1, 2});
  CHECK(data.Name(0) == "apple/b.png");
  CHECK(data.Name(1) == "pear/1.PNG");
  CHECK(data.Name(2) == "pear/2.png");
  CHECK(Floats(data.Read(2)) == std::vector<float>{0.0f, 19.0f});
  CHECK(data.note().empty());
  folder.Write("pear/3.WebP", "an image that is not read");
  folder.Write("apple/c.heic", "another");
  const std::string note = Dataset::Open(folder.path(), Input({1, 1, 2, 1}), {scale, {}}).note();
  CHECK_THAT(note, StartsWith("2 files were passed over") && EndsWith("apple/c.heic"));
}

TEST_CASE("dataset: what was decoded is there once more, as far as there is room", "[cli]") {
  const Folder folder;
  for (const char* name : {"a/1.png", "a/2.png", "b/3.png", "b/4.png"}) {
    folder.Write(name, FromHex(kGreyPng));
  }
  Dataset data = Dataset::Open(folder.path(), Input({1, 1, 2, 1}), {});
  const size_t bytes = data.Read(0).size();
  data.KeepDecoded(2 * bytes + 1);
  const std::vector<uint8_t> first = data.Read(0);
  for (int64_t i : {1, 2, 3}) CHECK(data.Read(i) == first);
  for (const char* name : {"a/1.png", "a/2.png", "b/3.png"}) folder.Write(name, "no image");
  data.Keep({3, 1, 2, 0});
  CHECK(data.Read(3) == first);
  CHECK(data.Read(1) == first);
  CHECK_THAT(Failure([&] { data.Read(2); }), Contains("3.png"));  // there was no room for it
  CHECK_THAT(Failure([&] { data.Read(3); }), Contains("1.png"));  // it was read twice
  CHECK(data.Read(0) == first);
  folder.Write("b/4.png", "no image");
  CHECK(data.Read(0) == first);  // in the room of those before
}

TEST_CASE("dataset: arrays give rows, and classes up to the largest label", "[cli]") {
  const Folder folder;
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> y = {2, 0, 2};
  folder.Write("x.npy", EncodeNpy(TW_DTYPE_FLOAT32, {3, 2}, x.data(), x.size() * sizeof(float)));
  folder.Write("y.npy", EncodeNpy(TW_DTYPE_INT64, {3}, y.data(), y.size() * sizeof(int64_t)));
  Dataset opened = Dataset::Open(folder.path(), Input({1, 2}), cli::Reading());
  const Dataset data = std::move(opened);
  CHECK_FALSE(data.has_images());
  CHECK(data.size() == 3);
  CHECK(data.class_names() == std::vector<std::string>{"0", "1", "2"});
  CHECK(data.ClassCounts() == std::vector<int64_t>{1, 0, 2});
  CHECK_FALSE(data.has_names());
  CHECK_FALSE(data.has_targets());
  CHECK(Floats(data.Read(1)) == std::vector<float>{3, 4});
  CHECK(data.Name(1) == "x.npy[1]");
}

// x.npy of three examples and a y.npy, with classes.txt unless it is empty.
template <typename T>
void WriteArrays(const Folder& folder, tw_dtype dtype, const std::vector<int64_t>& shape,
                 const std::vector<T>& y, const std::string& names) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  folder.Write("x.npy", EncodeNpy(TW_DTYPE_FLOAT32, {3, 2}, x.data(), x.size() * sizeof(float)));
  folder.Write("y.npy", EncodeNpy(dtype, shape, y.data(), y.size() * sizeof(T)));
  if (!names.empty()) folder.Write("classes.txt", names);
}

Dataset OpenArrays(const Folder& folder) {
  return Dataset::Open(folder.path(), Input({1, 2}), cli::Reading());
}

std::vector<float> Targets(const Dataset& data, int64_t i) {
  return std::vector<float>(data.targets(i), data.targets(i) + data.class_names().size());
}

TEST_CASE("dataset: classes.txt names the labels of arrays", "[cli]") {
  const Folder folder;
  WriteArrays<uint8_t>(folder, TW_DTYPE_UINT8, {3}, {1, 0, 1}, "apple\r\npear\nplum\n");
  const Dataset data = OpenArrays(folder);
  CHECK(data.has_names());
  CHECK(data.class_names() == std::vector<std::string>{"apple", "pear", "plum"});
  CHECK(data.labels() == std::vector<int64_t>{1, 0, 1});
  CHECK(data.ClassCounts() == std::vector<int64_t>{1, 2, 0});
  const auto open = [&] { OpenArrays(folder); };
  folder.Write("classes.txt", "apple\n");
  CHECK_THAT(Failure(open), EndsWith("classes.txt: has 1 name, y.npy has labels up to 1"));
  folder.Write("classes.txt", "apple\n\npear\n");
  CHECK_THAT(Failure(open), EndsWith("classes.txt:2: the line is empty; name a class"));
  folder.Write("classes.txt", "apple\npear\napple\n");
  CHECK_THAT(Failure(open), EndsWith("classes.txt:3: 'apple' is named twice"));
}

TEST_CASE("dataset: numbers of arrays are targets, binary or not", "[cli]") {
  const Folder folder;
  WriteArrays<uint8_t>(folder, TW_DTYPE_BOOL, {3, 2}, {1, 0, 1, 1, 0, 0}, "red\ngreen\n");
  const Dataset several = OpenArrays(folder);
  CHECK(several.size() == 3);
  CHECK(several.has_targets());
  CHECK(several.targets_are_binary());
  CHECK(several.labels().empty());
  CHECK(several.class_names() == std::vector<std::string>{"red", "green"});
  CHECK(several.ClassCounts() == std::vector<int64_t>{2, 1});
  CHECK(Targets(several, 1) == std::vector<float>{1, 1});
  CHECK(Floats(several.Read(2)) == std::vector<float>{5, 6});

  const Folder numbers;
  WriteArrays<double>(numbers, TW_DTYPE_FLOAT64, {3}, {0.5, -2, 1e3}, "");
  const Dataset regression = OpenArrays(numbers);
  CHECK(regression.has_targets());
  CHECK_FALSE(regression.targets_are_binary());
  CHECK_FALSE(regression.has_names());
  CHECK(regression.class_names() == std::vector<std::string>{"0"});
  CHECK(regression.ClassCounts() == std::vector<int64_t>{0});
  CHECK(Targets(regression, 2) == std::vector<float>{1000});

  const Folder integers;
  WriteArrays<int64_t>(integers, TW_DTYPE_INT64, {3, 2}, {0, 1, 1, 0, 2, 0}, "");
  CHECK(Targets(OpenArrays(integers), 2) == std::vector<float>{2, 0});
  CHECK_FALSE(OpenArrays(integers).targets_are_binary());
}

TEST_CASE("dataset: targets of arrays that cannot be used", "[cli]") {
  const Folder folder;
  const auto open = [&] { OpenArrays(folder); };
  WriteArrays<float>(folder, TW_DTYPE_FLOAT32, {3, 2}, {1, 0, 1, NAN, 0, 0}, "");
  CHECK_THAT(Failure(open), StartsWith("5 ") && EndsWith("y.npy: the number at [1, 1] is not "
                                                         "finite; leave the example out"));
  WriteArrays<double>(folder, TW_DTYPE_FLOAT64, {3}, {1, 0, 1e300}, "");
  CHECK_THAT(Failure(open), Contains("[2, 0] is not finite"));
  WriteArrays<float>(folder, TW_DTYPE_FLOAT32, {3, 2}, {1, 0, 1, 0, 0, 0}, "a\nb\nc\n");
  CHECK_THAT(Failure(open), EndsWith("classes.txt: has 3 names, y.npy has 2 columns"));
  WriteArrays<int64_t>(folder, TW_DTYPE_INT64, {3, 1}, {1, 0, 1}, "");
  CHECK_THAT(Failure(open), Contains("y.npy: is int64 of shape [3, 1]") && Contains("y[:, 0]"));
  WriteArrays<float>(folder, TW_DTYPE_FLOAT32, {3, 0}, {}, "");
  CHECK_THAT(Failure(open), Contains("needs 1 to 100000 numbers"));
  WriteArrays<float>(folder, TW_DTYPE_FLOAT32, {2, 2}, {1, 0, 1, 0}, "");
  CHECK_THAT(Failure(open), Contains("has 2 labels for 3 examples"));
}

// A folder of three images and labels.csv.
class CsvFolder {
 public:
  CsvFolder() {
    for (const char* name : {"a.png", "b, c.png", "deep/d.png"}) {
      folder_.Write(name, FromHex(kGreyPng));
    }
  }
  const Folder& folder() const { return folder_; }
  Dataset Open(const std::string& csv) const {
    folder_.Write("labels.csv", csv);
    return Dataset::Open(folder_.path(), Input({1, 1, 2, 1}), cli::Reading());
  }
  // What is said after "…labels.csv".
  std::string Refusal(const std::string& csv) const {
    const std::string failure = Failure([&] { Open(csv); });
    const size_t at = failure.find("labels.csv");
    return at == std::string::npos ? failure : failure.substr(at + 10);
  }

 private:
  Folder folder_;
};

TEST_CASE("dataset: labels.csv with the name of a class", "[cli]") {
  const CsvFolder folder;
  const Dataset data = folder.Open(
      "\xef\xbb\xbf"
      "file , Label\r\ndeep/d.png,pear\r\n\r\n"
      "\"b, c.png\",\"a \"\"big\"\" one\"\r\na.png,\tpear");
  CHECK(data.has_images());
  CHECK(data.has_names());
  CHECK_FALSE(data.has_targets());
  CHECK(data.class_names() == std::vector<std::string>{"a \"big\" one", "pear"});
  CHECK(data.labels() == std::vector<int64_t>{1, 0, 1});
  CHECK(data.Name(0) == "deep/d.png");
  CHECK(data.Name(1) == "b, c.png");
  CHECK(Floats(data.Read(1)).size() == 2);
  // Numbers in a column called class are names.
  CHECK(folder.Open("file,class\na.png,10\ndeep/d.png,2\n").class_names() ==
        std::vector<std::string>{"10", "2"});
}

TEST_CASE("dataset: labels.csv with numbers", "[cli]") {
  const CsvFolder folder;
  const Dataset several = folder.Open("FILE,red,\"gr\neen\"\na.png,1, 0\ndeep/d.png,1,1\n");
  CHECK(several.has_targets());
  CHECK(several.targets_are_binary());
  CHECK(several.labels().empty());
  CHECK(several.size() == 2);
  CHECK(several.class_names() == std::vector<std::string>{"red", "gr\neen"});
  CHECK(several.ClassCounts() == std::vector<int64_t>{2, 1});
  CHECK(Targets(several, 0) == std::vector<float>{1, 0});
  const Dataset regression = folder.Open("file,age\ra.png,-1.5e1\rdeep/d.png,\".25\"\r");
  CHECK_FALSE(regression.targets_are_binary());
  CHECK(Targets(regression, 0) == std::vector<float>{-15});
  CHECK(Targets(regression, 1) == std::vector<float>{0.25f});
  // Three columns: label is a number like the others.
  CHECK(folder.Open("file,label,x\na.png,7,1\n").class_names() ==
        std::vector<std::string>{"label", "x"});
}

TEST_CASE("dataset: what is wrong in labels.csv is told with its line", "[cli]") {
  const CsvFolder folder;
  const struct {
    const char* csv;
    const char* refusal;
  } cases[] = {
      {"", ": is empty; it must begin with a line of column names"},
      {"\n\n", ": is empty"},
      {"a.png,1\n", ":1: the first line must name the columns"},
      {"file;label\n", ":1: fields must be separated by commas"},
      {"file\na.png\n", ":1: needs a column beside 'file'"},
      {"file,red,,x\n", ":1: column 3 has no name"},
      {"file,red,red\n", ":1: column 3 has the name of another one, 'red'"},
      {"file,label\n", ": lists no images"},
      {"file,label\na.png,x\n\nabsent.png,x\n",
       ":4: column 1 ('file'): there is no image "
       "'absent.png'"},
      {"file,label\ndeep,x\n", ":2: column 1 ('file'): there is no image 'deep'"},
      {"file,label\n,x\n", ":2: column 1 ('file'): is empty"},
      {"file,label\na.png,\n", ":2: column 2 ('label'): is empty; name a class"},
      {"file,label\na.png,x,y\n", ":2: has 3 fields, the first line has 2"},
      {"file,\"x\n\ny\"\na.png\n", ":4: has 1 field, the first line has 2"},
      {"file,red,blue\na.png,1,\n", ":2: column 3 ('blue'): is empty; every column needs a number"},
      {"file,red\na.png,cat\n", ":2: column 2 ('red'): 'cat' is not a number (class names go into"},
      {"file,red\na.png,1.2.3\n", ":2: column 2 ('red'): '1.2.3' is not a number"},
      {"file,red\na.png,0x10\n", ":2: column 2 ('red'): '0x10' is not a number"},
      {"file,red\na.png,NaN\n", ":2: column 2 ('red'): is NaN; leave the example out"},
      {"file,red\na.png,1e39\n", ":2: column 2 ('red'): 1e39 is beyond float32"},
      {"file,label\n\"a.png,x\n", ":2: column 1: the quote that opens this field is never closed"},
      {"file,label\n\"a\".png,x\n", ":2: column 1: text follows the closing quote"},
      {"file,label\na.png,5\" disk\n", ":2: column 2: a quote stands inside a field"},
      {"\xff\xfe"
       "f",
       ": is UTF-16 text; save it as UTF-8"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.csv);
    CHECK_THAT(folder.Refusal(c.csv), StartsWith(c.refusal));
  }
  folder.folder().Write("y.npy", "");
  CHECK_THAT(folder.Refusal("file,label\na.png,x\n"), StartsWith(" and .npy files; keep one"));
}

TEST_CASE("dataset: a key changes with the file and stays otherwise", "[cli]") {
  const CsvFolder folder;
  const Dataset data = folder.Open("file,label\na.png,x\ndeep/../deep/d.png,y\n");
  const std::string key = data.Key(1);
  CHECK_THAT(key, Contains("/deep/d.png|") && !Contains(".."));
  CHECK(key == folder.Open("file,label\ndeep/d.png,x\n").Key(0));
  CHECK(key != data.Key(0));
  folder.folder().Write("deep/d.png", std::string("longer than the picture was, much longer, even "
                                                  "so much that it is another length"));
  CHECK(data.Key(1) != key);
  std::filesystem::remove(folder.folder().path() + "/deep/d.png");
  CHECK_THAT(Failure([&] { data.Key(1); }), StartsWith("6 ") && Contains("d.png: cannot read it"));

  const Folder arrays;
  WriteArrays<int64_t>(arrays, TW_DTYPE_INT64, {3}, {0, 1, 0}, "");
  const Dataset rows = OpenArrays(arrays);
  CHECK(rows.Key(0) == OpenArrays(arrays).Key(0));
  CHECK(rows.Key(0) != rows.Key(1));
  CHECK_THAT(rows.Key(2), Contains("/x.npy|") && EndsWith("|2"));
}

TEST_CASE("dataset: groups from folders, a column and an array", "[cli]") {
  const std::vector<uint8_t> png = FromHex(kGreyPng);
  const Folder folder;
  for (const char* name :
       {"pear/anna/1.png", "pear/anna/2.png", "pear/ben/1.png", "plum/ben/9.png"}) {
    folder.Write(name, png);
  }
  const auto open = [&] {
    return Dataset::Open(folder.path(), Input({1, 1, 2, 1}), cli::Reading());
  };
  Dataset images = open();
  CHECK(images.labels() == std::vector<int64_t>{0, 0, 0, 1});
  CHECK(images.group_names().size() == 2);
  CHECK(images.group_names().at(images.group(0)) == "anna");
  CHECK(images.group(1) == images.group(0));
  CHECK(images.group(2) == images.group(3));
  CHECK(images.Name(2) == "pear/ben/1.png");
  const int32_t ben = images.group(2);
  images.Keep({3, 0});
  CHECK(images.group(0) == ben);
  const CsvFolder csv;
  const Dataset listed =
      csv.Open("file,Group,label\na.png,ben,x\n\"b, c.png\",anna,y\ndeep/d.png,ben,y\n");
  CHECK(listed.class_names() == std::vector<std::string>{"x", "y"});
  CHECK(listed.group(0) == ben);
  CHECK(listed.group(2) == ben);
  CHECK(listed.group(1) != ben);
  const Dataset targets = csv.Open("file,red,group\na.png,1,ben\ndeep/d.png,0.5,anna\n");
  CHECK(targets.class_names() == std::vector<std::string>{"red"});
  CHECK(targets.group(0) == ben);
  CHECK_THAT(csv.Refusal("file,label,group\na.png,x,ben\ndeep/d.png,y,\n"),
             StartsWith(":3: column 3 ('group'): is empty; every image needs a group"));
  CHECK_THAT(csv.Refusal("file,group,label\na.png,ben,x\ndeep/d.png,ben,\n"),
             StartsWith(":3: column 3 ('label'): is empty"));
  CHECK_THAT(csv.Refusal("file,red,group,blue\na.png,1,ben,2\ndeep/d.png,1,ben,x\n"),
             StartsWith(":3: column 4 ('blue'): 'x' is not a number"));
  CHECK_THAT(csv.Refusal("file,red,group,blue\na.png,1,ben,2\ndeep/d.png,x,ben,1\n"),
             StartsWith(":3: column 2 ('red'): 'x' is not a number"));
  CHECK_THAT(csv.Refusal("file,group\na.png,ben\n"), StartsWith(":1: needs a column beside"));
  CHECK_FALSE(csv.Open("file,label\na.png,x\n").has_groups());
  CHECK(csv.Open("file,label\na.png,x\n").group(0) == -1);
  folder.Write("plum/1.png", png);
  CHECK_THAT(Failure(open), Contains("plum/1.png: is in no group") && Contains("plum/ben"));
  // (Moved, not removed: libc++'s remove_all fails under qemu for 32-bit ARM.)
  const Folder aside;
  std::filesystem::rename(folder.path() + "/plum/ben", aside.path() + "/ben");
  CHECK_THAT(Failure(open), Contains("plum/1.png: is in no group"));
  std::filesystem::rename(folder.path() + "/pear/anna", aside.path() + "/anna");
  std::filesystem::rename(folder.path() + "/pear/ben", folder.path() + "/zoo");
  folder.Write("apple/1.png", png);
  folder.Write("quince/eve/1.png", png);
  CHECK_THAT(Failure(open), Contains("apple/1.png: is in no group") && Contains("quince/eve"));
  const Folder arrays;
  WriteArrays<int64_t>(arrays, TW_DTYPE_INT64, {3}, {0, 1, 0}, "");
  const std::vector<int64_t> groups = {4, 4, 9};
  arrays.Write("groups.npy", EncodeNpy(TW_DTYPE_INT64, {3}, groups.data(), 24));
  const Dataset rows = OpenArrays(arrays);
  CHECK(rows.group(0) == rows.group(1));
  CHECK(rows.group(0) != rows.group(2));
  CHECK(rows.group_names().at(rows.group(2)) == "9");
  arrays.Write("groups.npy", EncodeNpy(TW_DTYPE_INT64, {2}, groups.data(), 16));
  CHECK_THAT(Failure([&] { OpenArrays(arrays); }), Contains("it must be integers [3]"));
}

}  // namespace cli_dataset_test
}  // namespace topwork
