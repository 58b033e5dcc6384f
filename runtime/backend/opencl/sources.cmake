if(TOPWORK_OPENCL)
  set(OPENCL_SOURCES
    choose_device.cc
    clblast.cc
    context.cc
    crash_marker.cc
    device.cc
    errors.cc
    handles.cc
    kernel_source.cc
    loader.cc
    opencl_backend.cc
    program_cache.cc
    stream.cc
  )
else()
  set(OPENCL_SOURCES absent.cc)
endif()
