set(BACKEND_SOURCES
  cpu/cpu_backend.cc
  device_name.cc
)
