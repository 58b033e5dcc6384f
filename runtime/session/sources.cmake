set(SESSION_SOURCES
  auto_session.cc
  session.cc
  async_run.cc
  deferred.cc
  verify.cc
)
