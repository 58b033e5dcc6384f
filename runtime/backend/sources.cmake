set(BACKEND_SOURCES
  cpu/cpu_backend.cc
)
