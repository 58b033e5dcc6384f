set(FORMAT_SOURCES
  pack_cache.cc
)
