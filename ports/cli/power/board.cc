// The device tree's model, /etc/nv_tegra_release ("# R36 (release), REVISION: 4.3, GCID: ..."), nvpmodel's files
// (status "pmode:0002"; configuration "< POWER_MODEL ID=2 NAME=15W >"), and devfreq's clocks.
#include "ports/cli/power/board.h"

#include <cstdlib>
#include <regex>

#include "ports/cli/power/machine_files.h"

namespace topwork {
namespace cli {
namespace {

std::string Release(const std::string& root) {
  const std::string line = FirstLine(root + "/etc/nv_tegra_release");
  static const std::regex pattern(R"(# R(\d+) \(release\), REVISION: ([0-9.]+))");
  std::smatch found;
  return std::regex_search(line, found, pattern) ? "R" + found.str(1) + "." + found.str(2) : "";
}

std::string PowerMode(const std::string& root) {
  const std::string status = FirstLine(root + "/var/lib/nvpmodel/status");
  const size_t colon = status.find("pmode:");
  if (colon == std::string::npos) return "";
  const std::string id = std::to_string(std::atoi(status.c_str() + colon + 6));
  const std::string configuration = WholeText(root + "/etc/nvpmodel.conf");
  const std::regex pattern("<\\s*POWER_MODEL\\s+ID=" + id + "\\s+NAME=(\\S+)\\s*>");
  std::smatch found;
  return std::regex_search(configuration, found, pattern) ? found.str(1) : "mode " + id;
}

}  // namespace

Board ReadBoard(const std::string& root) {
  Board board;
  board.model = FirstLine(root + "/proc/device-tree/model");
  board.release = Release(root);
  board.is_jetson = !board.release.empty() || board.model.find("Jetson") != std::string::npos;
  board.power_mode = PowerMode(root);
  for (const std::string& folder : EntriesOf(root + "/sys/class/devfreq", "")) {
    const std::string name = folder.substr(folder.rfind('/') + 1);
    if (name.find("gpu") == std::string::npos && name.find("ga10b") == std::string::npos &&
        name.find("gv11b") == std::string::npos && name.find("gp10b") == std::string::npos &&
        name.find("mali") == std::string::npos) {
      continue;
    }
    board.gpu_mhz = std::atof(FirstLine(folder + "/cur_freq").c_str()) * 1e-6;
    board.gpu_max_mhz = std::atof(FirstLine(folder + "/max_freq").c_str()) * 1e-6;
  }
  return board;
}

std::string OpenclAdvice(const Board& board, bool has_gpu) {
  if (!board.is_jetson) return "";
  if (has_gpu) {
    return "OpenCL on a Jetson comes from PoCL-CUDA or another driver that is not NVIDIA's. Topwork was never "
           "tried with it: compare it with the CPU by `topwork verify MODEL`.";
  }
  return "NVIDIA has no OpenCL for Jetson. PoCL built with CUDA, behind an ICD loader (ocl-icd-libopencl1), makes "
         "its GPU an OpenCL device; Topwork was never tried with it. Without it models run on the CPU.";
}

}  // namespace cli
}  // namespace topwork
