// Reads NumPy's .npz (a zip of .npy) and .npy, little endian, C order.
#ifndef TOPWORK_TESTS_SUPPORT_NPZ_H_
#define TOPWORK_TESTS_SUPPORT_NPZ_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace topwork {
namespace test {

struct NpyArray {
  std::string descr;  // "<f4", "<f8", "<i4", "<i8"
  std::vector<int64_t> shape;
  std::string data;

  int64_t size() const;
  // The elements converted to T; fails the test for other types than those above.
  template <typename T>
  std::vector<T> as() const;
};

using Npz = std::map<std::string, NpyArray>;

// Fails the running test when the data is not a .npy or .npz.
NpyArray ReadNpy(const void* data, size_t size);
Npz ReadNpz(const void* data, size_t size);
Npz ReadNpzFile(const std::string& path);

// The folder of the large models beside the repository ($TOPWORK_SHARED/models); empty when there
// is none.
std::string SharedModelsFolder();

}  // namespace test
}  // namespace topwork

#endif  // TOPWORK_TESTS_SUPPORT_NPZ_H_
