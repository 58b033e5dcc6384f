// Devices of this machine. Programs include topwork/topwork.hpp.
#ifndef TOPWORK_DEVICE_HPP_
#define TOPWORK_DEVICE_HPP_

#include <vector>

#include "topwork/base.hpp"
#include "topwork/device.h"

namespace tw {

// The devices of this machine, the CPU first; strings are static.
inline Result<std::vector<tw_device_info>> Devices() {
  std::vector<tw_device_info> devices;
  for (;;) {
    tw_device_info info{};
    info.struct_size = sizeof(info);
    const tw_status status = tw_device_get_info(devices.size(), &info);
    if (status == TW_STATUS_NOT_FOUND) return devices;
    if (status != TW_STATUS_OK) return Status(status);
    devices.push_back(info);
  }
}

}  // namespace tw

#endif  // TOPWORK_DEVICE_HPP_
