set(BACKEND_SOURCES
  device_name.cc
  devices.cc
  placement.cc
  run_on_cpu.cc
)
