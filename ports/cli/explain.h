// Pictures of a class activation map: where in an image a class's score comes from.
#ifndef TOPWORK_PORTS_CLI_EXPLAIN_H_
#define TOPWORK_PORTS_CLI_EXPLAIN_H_

#include <cstdint>
#include <vector>

#include "ports/cli/data/image.h"

namespace topwork {
namespace cli {

// The photograph in grey with the map of class `index` over it, enlarged smoothly: nothing where the
// map is at most 0, red where it is largest. `map` is [rows, columns, classes].
Image ActivationPicture(const Image& photograph, const float* map, int rows, int columns,
                        int n_classes, int index);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_EXPLAIN_H_
