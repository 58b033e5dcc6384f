// The OpenCL headers, one configuration for all files of this folder. Nothing links against OpenCL:
// functions are called through ClApi (loader.h) only.
#ifndef TOPWORK_RUNTIME_BACKEND_OPENCL_CL_H_
#define TOPWORK_RUNTIME_BACKEND_OPENCL_CL_H_

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#endif  // TOPWORK_RUNTIME_BACKEND_OPENCL_CL_H_
