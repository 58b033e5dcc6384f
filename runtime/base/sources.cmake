set(BASE_SOURCES
  status.cc
  log.cc
  buffer.cc
  thread_pool.cc
  sha256.cc
  json.cc
)
