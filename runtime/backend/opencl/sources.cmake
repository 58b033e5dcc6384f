if(TOPWORK_OPENCL)
  set(OPENCL_SOURCES
    choose_device.cc
    crash_marker.cc
    device.cc
    errors.cc
    handles.cc
    loader.cc
  )
else()
  set(OPENCL_SOURCES absent.cc)
endif()
