set(SESSION_SOURCES
  auto_session.cc
  session.cc
  deferred.cc
)
