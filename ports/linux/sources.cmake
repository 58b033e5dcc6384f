set(PORT_SOURCES
  port_linux.cc
  atomic_file.cc
)
