#!/bin/bash
# Builds the demo model from registry packages, for both engines.
#   build.sh setup    Python environment with the pinned packages          -> $WORK/venv
#   build.sh runtime  TVM's runtime for wasm (the slow part)               -> $WORK/obj/*.o
#   build.sh lib      model, kernels, link: WebLLM's library               -> $OUT/webllm/*.wasm
#   build.sh weights  the weights that are committed, packed for WebLLM    -> $OUT/webllm
#   build.sh gguf     the same weights for wllama                          -> $OUT/gguf
#   build.sh all      these five, and check
#   build.sh check    all of it against what is committed, byte for byte
#   build.sh train    new conversations, tokenizer and weights             -> $WORK/weights.npz
#   build.sh test     the committed weights on turns that are held out     -> a table
# After train, `weights` and `gguf` take the new weights. WORK, OUT, MINUTES and PYTHON may be set from
# outside.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
KIT=$ROOT/tools/gemma-webgpu # shim/ and glue.cc serve both libraries
MODEL=$ROOT/models/tiny-gemma
WORK=${WORK:-$ROOT/.cache/tiny-gemma/work}
OUT=${OUT:-$ROOT/.cache/tiny-gemma/out}
NAME=tiny-gemma3-q0f32-webgpu.wasm
export PYTHONDONTWRITEBYTECODE=1
mkdir -p "$WORK/obj" "$OUT/webllm" "$OUT/gguf"

setup() {
  "${PYTHON:-python3}" -m venv "$WORK/venv"
  "$WORK/venv/bin/pip" install -q -r "$HERE/requirements.txt"
}

use_venv() {
  PATH="$WORK/venv/bin:$PATH"
  SITE=$(python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  # TVM's sources name each other as in a checkout: give them that layout.
  TVM=$WORK/root
  mkdir -p "$TVM/3rdparty"
  for d in include src web; do ln -sfn "$SITE/tvm/$d" "$TVM/$d"; done
  ln -sfn "$SITE/tvm_ffi" "$TVM/3rdparty/tvm-ffi"
  export ZIG_GLOBAL_CACHE_DIR=${ZIG_GLOBAL_CACHE_DIR:-$WORK/zig-cache}
  cd "$HERE"
}

# -fignore-exceptions: a throw calls __cxa_throw (glue.cc: says so and traps), catch
# blocks are dropped. tvmjs cannot use wasm exceptions either.
# -ffile-prefix-map: no path of this machine in the result.
cxx() {
  local shim=$KIT/shim
  python -m ziglang c++ -target wasm32-wasi -mcpu=generic+bulk_memory -Oz -std=c++17 \
    -Wno-everything -fignore-exceptions -fno-sanitize=all -DNDEBUG -DTVM_LOG_CUSTOMIZE=1 \
    -include "$shim/prelude.h" \
    -ffile-prefix-map="$TVM"=tvm -ffile-prefix-map="$SITE"=site -ffile-prefix-map="$KIT"=recipe \
    -I"$shim/leftout" -I"$shim" -I"$shim/src/runtime" -I"$shim/src/runtime/vm" \
    -I"$TVM" -I"$TVM/include" -I"$TVM/3rdparty/tvm-ffi/include" "$@"
}

runtime() {
  use_venv
  cxx -c "$TVM/web/emcc/wasm_runtime.cc" -o "$WORK/obj/wasm_runtime.o"
  cxx -c "$TVM/web/emcc/webgpu_runtime.cc" -o "$WORK/obj/webgpu_runtime.o"
  cxx -c "$KIT/glue.cc" -o "$WORK/obj/glue.o"
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
  python -m library.compile "$WORK/model"
  python -m ziglang c++ -target wasm32-wasi -mexec-model=reactor -fno-sanitize=all -Oz -s \
    -Wl,-z,stack-size=1048576 -Wl,--initial-memory=67108864 -Wl,--max-memory=2147483648 \
    "${EXPORTS[@]/#/-Wl,--export=}" "$WORK"/obj/*.o "$WORK"/model/*.o -o "$OUT/webllm/$NAME"
  chmod 644 "$OUT/webllm/$NAME"
  ls -l "$OUT/webllm/$NAME"
}

weights() {
  use_venv
  local from=$MODEL/webllm
  [ -f "$WORK/weights.npz" ] && from=$WORK/weights.npz
  cp "$([ -f "$WORK/tokenizer.json" ] && echo "$WORK" || echo "$MODEL/webllm")/tokenizer.json" "$OUT/webllm/"
  python -m weights.pack "$from" "$OUT/webllm"
}

gguf() {
  cd "$ROOT"
  npx tsx tools/tiny-gemma/gguf.ts "$OUT/webllm" "$OUT/gguf/tiny-gemma-f16.gguf"
}

check() {
  diff -r -x NOTICE "$OUT/webllm" "$MODEL/webllm" && diff -r "$OUT/gguf" "$MODEL/gguf" && echo "the same, byte for byte"
}

write() {
  (cd "$ROOT" && npx tsx tools/tiny-gemma/conversations/write.ts "$@")
}

train() {
  use_venv
  pip install -q -r requirements-train.txt
  write "$WORK/corpus.jsonl" 1 12000
  write "$WORK/train.jsonl" 11 36000
  write "$WORK/more.jsonl" 21 14000
  write "$WORK/held-out.jsonl" 99 1500 held-out
  python -m weights.tokenizer "$WORK/corpus.jsonl" "$WORK/tokenizer.json"
  # Without these, glibc gives every large tensor back to the kernel.
  export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=4000000000 MALLOC_TRIM_THRESHOLD_=20000000000
  python -m weights.train "$WORK/tokenizer.json" "$WORK/train.jsonl" "$WORK/held-out.jsonl" \
    "$WORK/first.npz" "${MINUTES:-45}"
  python -m weights.train "$WORK/tokenizer.json" "$WORK/more.jsonl" "$WORK/held-out.jsonl" \
    "$WORK/weights.npz" 6 "$WORK/first.npz"
}

test_turns() {
  use_venv
  pip install -q -r requirements-train.txt
  for kind in "" strange; do
    # shellcheck disable=SC2086
    write "$WORK/held-out.jsonl" 99 1500 held-out $kind
    python -m weights.evaluate "$MODEL/webllm/tokenizer.json" "$MODEL/webllm" "$WORK/held-out.jsonl" 900
  done
}

case "${1:-all}" in
  all) for step in setup runtime lib weights gguf check; do (export WORK OUT; "$HERE/build.sh" "$step"); done ;;
  setup | runtime | lib | weights | gguf | check | train) "$1" ;;
  test) test_turns ;;
  *) echo "unknown step $1"; exit 2 ;;
esac
