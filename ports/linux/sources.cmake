set(PORT_SOURCES
  port_linux.cc
  locked_file.cc
  atomic_file.cc
  folder.cc
)
