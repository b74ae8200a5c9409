// Force-included before every translation unit (zig c++ -include prelude.h).
// 1. tvm-ffi does not know that WASI is little endian.
// 2. zig's libc++ for wasm32-wasi is single threaded and leaves std::mutex and
//    friends out; the model library runs on one thread, so no-op locks do.
#pragma once
#define TVM_FFI_CMAKE_LITTLE_ENDIAN 1
#ifdef __cplusplus
#include <chrono>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
namespace std {
struct noop_lock {
  void lock() {}
  void unlock() {}
  bool try_lock() { return true; }
};
struct mutex : noop_lock {};
struct recursive_mutex : noop_lock {};
struct shared_mutex : noop_lock {
  void lock_shared() {}
  void unlock_shared() {}
};
template <class... Locks>
struct scoped_lock {
  explicit scoped_lock(Locks&...) {}
};
namespace this_thread {
template <class Rep, class Period>
inline void sleep_for(const chrono::duration<Rep, Period>&) {}
}  // namespace this_thread
// zig's libc++ for WASI has no file streams either. There are no files in the
// browser, so every open fails.
template <>
class basic_ifstream<char> : public istringstream {
 public:
  template <class... Args>
  explicit basic_ifstream(const Args&...) { setstate(ios_base::failbit); }
  void close() {}
};
template <>
class basic_ofstream<char> : public ostringstream {
 public:
  template <class... Args>
  explicit basic_ofstream(const Args&...) { setstate(ios_base::failbit); }
  void close() {}
};
}  // namespace std
#endif
