set(PORT_SOURCES
  port_linux.cc
  locked_file.cc
  file_lock.cc
  atomic_file.cc
  folder.cc
  processors.cc
)
