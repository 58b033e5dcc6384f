# Android by its NDK: sets Topwork's choices and includes the NDK's own toolchain file, which does the work.
# ANDROID_NDK (variable or environment) is the NDK's folder; ANDROID_ABI is arm64-v8a, armeabi-v7a or x86_64.
if(NOT ANDROID_NDK)
  set(ANDROID_NDK "$ENV{ANDROID_NDK}")
endif()
set(_ndk "${ANDROID_NDK}/build/cmake/android.toolchain.cmake")
if(NOT EXISTS "${_ndk}")
  message(FATAL_ERROR "ANDROID_NDK='${ANDROID_NDK}' has no build/cmake/android.toolchain.cmake: set ANDROID_NDK to "
                      "the folder of an Android NDK (r25 or later).")
endif()
if(NOT ANDROID_ABI)
  set(ANDROID_ABI arm64-v8a)
endif()
if(NOT ANDROID_PLATFORM)
  set(ANDROID_PLATFORM android-24)
endif()
# The C++ library is inside and hidden (tw_link_library): it meets no other copy in the application.
set(ANDROID_STL c++_static)
set(ANDROID_SUPPORT_FLEXIBLE_PAGE_SIZES ON)  # pages of 16 KB
set(ANDROID_ARM_MODE arm)  # with Thumb code the NDK compiles Release by -Oz
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ANDROID_NDK)
include("${_ndk}")
