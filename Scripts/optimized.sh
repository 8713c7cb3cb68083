# The program as Scripts/run, Scripts/install and the tests build it: it runs without Swift's libraries.
# Other such programs are built with the same options in the same folder, because other options would
# compile everything again.
optimized_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
optimized_folder=$optimized_root/.build-static
# Without debug information a build takes 20 s less.
optimized=(--scratch-path "$optimized_folder" -c release -Xswiftc -gnone)
mkdir -p "$optimized_folder/libraries"
if [ "$(uname -s)" = Linux ]; then
  # Loading a shared C++ library takes longer than the rest of the start, as do long relocations.
  ln -sf "$(clang -print-file-name=libstdc++.a)" "$optimized_folder/libraries/"
  optimized+=(--static-swift-stdlib --disable-local-rpath
    -Xswiftc -use-ld=lld -Xswiftc "-L$optimized_folder/libraries" -Xlinker --no-export-dynamic
    -Xlinker -z -Xlinker pack-relative-relocs)
fi

# Builds this package, or one that depends on it.
build_optimized() (  # package, further options …
  # One at a time. Another package may have left its plan.
  exec {lock}>"$optimized_folder/plan.lock"
  flock "$lock" || exit
  rm -f "$optimized_folder/release.yaml"
  swift build --package-path "$1" "${optimized[@]}" "${@:2}" </dev/null
)

# Compiles the files in Lua, and prints the path of the object file. Its name contains a checksum, so that
# SwiftPM links again after a change.
compile_scripts() (
  read -ra headers <<<"$(pkg-config --cflags lua5.4 2>/dev/null)"
  # Another process may be compiling, too.
  new=$(mktemp -d "$optimized_folder/compiled.XXXXXX")
  trap 'rm -r "$new"' EXIT
  lua5.4 "$optimized_root/Installation/compile.lua" "$optimized_root" >"$new/compiled.c" || exit
  object=$optimized_folder/compiled-$(cksum <"$new/compiled.c" | cut -d ' ' -f 1).o
  if [ ! -e "$object" ]; then
    clang -O1 -I "$optimized_root/CScripts/include" -I "$optimized_root/CLua/include" \
      "${headers[@]}" -c "$new/compiled.c" -o "$new/compiled.o" &&
      mv "$new/compiled.o" "$object" || exit
  fi
  echo "$object"
)

# Builds a program with the files in Lua compiled.
build_compiled() {  # product, further options …
  local object linked=()
  if [ "$(uname -s)" = Linux ]; then
    object=$(compile_scripts) || return
    linked=(-Xlinker "$object" -Xlinker "-Map=$optimized_folder/$1.map")
  fi
  build_optimized "$optimized_root" --product "$1" "${linked[@]}" "${@:2}"
}

build_program() { build_compiled obs-lua "$@"; }  # further options …

# Sets `program` to the one that OBS_LUA_PROGRAM names, or builds it.
use_program() {
  program=${OBS_LUA_PROGRAM:-}
  if [ -z "$program" ]; then
    build_program --quiet
    program=$optimized_folder/release/obs-lua
  fi
  program=$(realpath "$program")
}
