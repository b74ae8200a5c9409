#!/bin/bash
# Builds WebLLM's library for Gemma 3 270M from registry packages.
#   build.sh setup    Python environment with the pinned packages       -> $WORK/venv
#   build.sh runtime  TVM's runtime for wasm (the slow part)            -> $WORK/obj/*.o
#   build.sh lib      model, kernels, link                              -> $OUT/*.wasm
#   build.sh all      these three
#   build.sh check    the result against the library that is committed
# WORK, OUT and PYTHON may be set from outside.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
CACHE=$HERE/../../.cache/gemma-webgpu
WORK=${WORK:-$CACHE/work}
OUT=${OUT:-$CACHE/out}
NAME=gemma3-270m-q8f32-webgpu.wasm
mkdir -p "$WORK/obj" "$OUT"

setup() {
  "${PYTHON:-python3}" -m venv "$WORK/venv"
  "$WORK/venv/bin/pip" install -q -r "$HERE/requirements.txt"
}

use_venv() {
  PATH="$WORK/venv/bin:$PATH"
  SITE=$(python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  # TVM's sources name each other as in a checkout: give them that layout.
  ROOT=$WORK/root
  mkdir -p "$ROOT/3rdparty"
  for d in include src web; do ln -sfn "$SITE/tvm/$d" "$ROOT/$d"; done
  ln -sfn "$SITE/tvm_ffi" "$ROOT/3rdparty/tvm-ffi"
  export ZIG_GLOBAL_CACHE_DIR=${ZIG_GLOBAL_CACHE_DIR:-$WORK/zig-cache}
}

# -fignore-exceptions: a throw calls __cxa_throw (glue.cc: says so and traps), catch
# blocks are dropped. tvmjs cannot use wasm exceptions either.
# -ffile-prefix-map: no path of this machine in the result.
cxx() {
  local shim=$HERE/shim
  python -m ziglang c++ -target wasm32-wasi -mcpu=generic+bulk_memory -Oz -std=c++17 \
    -Wno-everything -fignore-exceptions -fno-sanitize=all -DNDEBUG -DTVM_LOG_CUSTOMIZE=1 \
    -include "$shim/prelude.h" \
    -ffile-prefix-map="$ROOT"=tvm -ffile-prefix-map="$SITE"=site -ffile-prefix-map="$HERE"=recipe \
    -I"$shim/leftout" -I"$shim" -I"$shim/src/runtime" -I"$shim/src/runtime/vm" \
    -I"$ROOT" -I"$ROOT/include" -I"$ROOT/3rdparty/tvm-ffi/include" "$@"
}

runtime() {
  use_venv
  cxx -c "$ROOT/web/emcc/wasm_runtime.cc" -o "$WORK/obj/wasm_runtime.o" &
  local first=$!
  cxx -c "$ROOT/web/emcc/webgpu_runtime.cc" -o "$WORK/obj/webgpu_runtime.o"
  cxx -c "$HERE/glue.cc" -o "$WORK/obj/glue.o"
  wait $first
}

# The functions that tvmjs calls, next to those that glue.cc exports.
EXPORTS=(
  TVMFFIAnyViewToOwnedAny TVMFFIDataTypeToString TVMFFIErrorSetRaisedFromCStr TVMFFIFunctionCall
  TVMFFIFunctionGetGlobal TVMFFIFunctionSetGlobal TVMFFIGetTypeInfo TVMFFIObjectDecRef
  TVMFFIObjectIncRef TVMFFITypeKeyToIndex
)

lib() {
  use_venv
  rm -rf "$WORK/model"
  (cd "$HERE" && PYTHONDONTWRITEBYTECODE=1 python compile_model.py "$WORK/model")
  python -m ziglang c++ -target wasm32-wasi -mexec-model=reactor -fno-sanitize=all -Oz -s \
    -Wl,-z,stack-size=1048576 -Wl,--initial-memory=67108864 -Wl,--max-memory=2147483648 \
    "${EXPORTS[@]/#/-Wl,--export=}" "$WORK"/obj/*.o "$WORK"/model/*.o -o "$OUT/$NAME"
  chmod 644 "$OUT/$NAME"
  ls -l "$OUT/$NAME"
}

check() {
  cmp "$OUT/$NAME" "$HERE/../../models/gemma-tools/webllm/$NAME" && echo "the same, byte for byte"
}

case "${1:-all}" in
  all) setup; runtime; lib ;;
  setup | runtime | lib | check) "$1" ;;
  *) echo "unknown step $1"; exit 2 ;;
esac
