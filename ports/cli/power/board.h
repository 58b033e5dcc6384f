// What board this is, and in which power mode it runs.
#ifndef TOPWORK_PORTS_CLI_POWER_BOARD_H_
#define TOPWORK_PORTS_CLI_POWER_BOARD_H_

#include <string>

namespace topwork {
namespace cli {

struct Board {
  std::string model;  // of the device tree: "NVIDIA Jetson Orin Nano Developer Kit"; "" on PCs
  bool is_jetson = false;
  std::string release;     // Jetson Linux: "R36.4.3"; "" elsewhere
  std::string power_mode;  // nvpmodel's: "15W"; "" where there is none
  double gpu_mhz = 0.0;    // now; 0: unknown
  double gpu_max_mhz = 0.0;
};

// From the files below `root` ("": the system's).
Board ReadBoard(const std::string& root);

// What must be said of OpenCL on this board in a sentence or two; "" where nothing must. `has_gpu`: an OpenCL device
// that is no CPU was found.
std::string OpenclAdvice(const Board& board, bool has_gpu);

}  // namespace cli
}  // namespace topwork

#endif  // TOPWORK_PORTS_CLI_POWER_BOARD_H_
