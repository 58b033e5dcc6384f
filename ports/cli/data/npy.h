// .npy files (NumPy format 1.0 to 3.0): arrays in C order, little endian.
#ifndef TOPWORK_PORTS_CLI_NPY_H_
#define TOPWORK_PORTS_CLI_NPY_H_

#include <topwork/topwork.h>

#include <cstdint>
#include <string>
#include <vector>

namespace topwork {
namespace cli {

struct Array {
  tw_dtype dtype = TW_DTYPE_FLOAT32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  int64_t n_elements() const;
};

// Bytes of one element; 0 for dtypes that .npy files cannot hold.
size_t NpyElementBytes(tw_dtype dtype);

// Throws CliError: kExitIo when the file cannot be read, kExitData when it is no .npy file, is
// truncated, in Fortran order, big endian, or of a dtype that tensors do not have.
Array ReadNpy(const std::string& path);

// The file's content; `data` holds the array's bytes.
std::vector<uint8_t> EncodeNpy(tw_dtype dtype, const std::vector<int64_t>& shape, const void* data,
                               size_t data_bytes);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_NPY_H_
