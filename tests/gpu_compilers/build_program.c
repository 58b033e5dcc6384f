/* Builds an OpenCL program on the first device and prints "kernel NAME PRIVATE_BYTES" for each of its kernels; the
 * driver prints machine code by itself when its environment says so.
 *
 * Usage: build_program FILE OPTIONS. Exit code 1: the program does not compile (its log follows), 2: no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static char* ReadFile(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text = calloc(1, 1 << 20);
  if (file == NULL || text == NULL || fread(text, 1, (1 << 20) - 1, file) == 0) exit(2);
  fclose(file);
  return text;
}

static void PrintLog(cl_program program, cl_device_id device) {
  static char log[1 << 16];
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  puts(log);
}

static void PrintKernels(cl_program program, cl_device_id device) {
  cl_kernel kernels[256];
  cl_uint n = 0;
  clCreateKernelsInProgram(program, 256, kernels, &n);
  for (cl_uint i = 0; i < n; ++i) {
    char name[256] = "";
    cl_ulong bytes = 0;
    clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    clGetKernelWorkGroupInfo(kernels[i], device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof bytes, &bytes,
                             NULL);
    printf("kernel %s %lu\n", name, (unsigned long)bytes);
  }
}

int main(int argc, char** argv) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int error = CL_SUCCESS;
  if (argc != 3 || clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    return 2;
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  if (error != CL_SUCCESS) return 2;
  const char* text = ReadFile(argv[1]);
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
  if (clBuildProgram(program, 1, &device, argv[2], NULL, NULL) != CL_SUCCESS) {
    PrintLog(program, device);
    return 1;
  }
  PrintKernels(program, device);
  return 0;
}
