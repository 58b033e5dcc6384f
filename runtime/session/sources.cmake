set(SESSION_SOURCES
  session.cc
  deferred.cc
)
