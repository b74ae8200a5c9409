// What tvmjs's JavaScript expects of the module besides TVM itself, and what a
// WASI libc would import that tvmjs does not supply.
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <typeinfo>

#define EXPORT(name) __attribute__((export_name(#name), visibility("default")))
#define IMPORT_ENV(name) __attribute__((import_module("env"), import_name(#name)))

extern "C" {

// ---- supplied by tvmjs (its "env" imports) ----
IMPORT_ENV(TVMFFIWasmSafeCall)
int TVMFFIWasmSafeCall(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);
IMPORT_ENV(TVMFFIWasmFunctionDeleter)
void TVMFFIWasmFunctionDeleter(void* self);
IMPORT_ENV(emscripten_notify_memory_growth)
void emscripten_notify_memory_growth(size_t memory_index);

// ---- called by tvmjs ----
EXPORT(TVMWasmAllocSpace)
void* TVMWasmAllocSpace(int nbytes) { return std::malloc((static_cast<size_t>(nbytes) + 7) & ~size_t{7}); }

EXPORT(TVMWasmFreeSpace)
void TVMWasmFreeSpace(void* p) { std::free(p); }

EXPORT(TVMFFIWasmFunctionCreate)
int TVMFFIWasmFunctionCreate(void* resource, TVMFFIObjectHandle* out) {
  return TVMFFIFunctionCreate(resource, TVMFFIWasmSafeCall, TVMFFIWasmFunctionDeleter, out);
}

EXPORT(TVMFFIWasmGetLastError)
const char* TVMFFIWasmGetLastError() {
  static std::string text;
  TVMFFIObjectHandle err = nullptr;
  TVMFFIErrorMoveFromRaised(&err);
  if (err == nullptr) {
    text = "no error was raised";
  } else {
    const TVMFFIErrorCell* cell = TVMFFIErrorGetCellPtr(err);
    text = std::string(cell->kind.data, cell->kind.size) + ": " +
           std::string(cell->message.data, cell->message.size);
    TVMFFIObjectDecRef(err);
  }
  return text.c_str();
}

// ---- C++ exceptions: compiled with -fignore-exceptions, so nothing catches ----
void* __cxa_allocate_exception(size_t nbytes) { return std::malloc(nbytes + 64); }
void __cxa_free_exception(void* p) { std::free(p); }
[[noreturn]] void __cxa_throw(void*, std::type_info* type, void (*)(void*)) {
  std::fprintf(stderr, "uncaught C++ exception of type %s\n", type ? type->name() : "?");
  std::fflush(stderr);
  __builtin_trap();
}

// ---- WASI calls of libc ----
// tvmjs supplies only the ones below marked "real"; the others would stop the
// module from instantiating, so they are answered here. The emscripten half of
// tvmjs keeps views of the memory, which growth detaches: the real ones first say
// so when the memory has grown.
#define WASI_REAL(name, ...)                                                           \
  __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))         \
  int32_t wasi_real_##name(__VA_ARGS__);                                             \
  int32_t __imported_wasi_snapshot_preview1_##name(__VA_ARGS__)

static void tell_growth() {
  static size_t pages = 0;
  size_t now = __builtin_wasm_memory_size(0);
  if (now != pages) {
    pages = now;
    emscripten_notify_memory_growth(0);
  }
}

WASI_REAL(clock_time_get, int32_t id, int64_t precision, int32_t out) {
  tell_growth();
  return wasi_real_clock_time_get(id, precision, out);
}
WASI_REAL(environ_get, int32_t a, int32_t b) {
  tell_growth();
  return wasi_real_environ_get(a, b);
}
WASI_REAL(environ_sizes_get, int32_t a, int32_t b) {
  tell_growth();
  return wasi_real_environ_sizes_get(a, b);
}
WASI_REAL(fd_write, int32_t fd, int32_t iov, int32_t count, int32_t written) {
  tell_growth();
  return wasi_real_fd_write(fd, iov, count, written);
}
enum { kBadFd = 8, kNoSys = 52 };
int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t) { return 0; }
int32_t __imported_wasi_snapshot_preview1_fd_read(int32_t, int32_t, int32_t, int32_t) { return kBadFd; }
int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t, int64_t, int32_t, int32_t) { return kBadFd; }
int32_t __imported_wasi_snapshot_preview1_fd_fdstat_get(int32_t, int32_t) { return kBadFd; }
int32_t __imported_wasi_snapshot_preview1_fd_fdstat_set_flags(int32_t, int32_t) { return kBadFd; }
int32_t __imported_wasi_snapshot_preview1_fd_prestat_get(int32_t, int32_t) { return kBadFd; }
int32_t __imported_wasi_snapshot_preview1_fd_prestat_dir_name(int32_t, int32_t, int32_t) { return kBadFd; }
int32_t __imported_wasi_snapshot_preview1_path_open(int32_t, int32_t, int32_t, int32_t, int32_t, int64_t, int64_t,
                                                    int32_t, int32_t) {
  return kNoSys;
}

// ---- thread-local destructors: the module lives until its page goes ----
int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }
}  // extern "C"
