# For scripts that build programs that need no Swift. All use the same options in a build folder, as
# others would compile everything again.
use_static_swift() {  # build folder; sets `static`, options for SwiftPM
  mkdir -p "$1/libraries"
  # Loading a shared C++ library takes longer than the rest of the start, as do long relocations.
  ln -sf "$(clang -print-file-name=libstdc++.a)" "$1/libraries/"
  static=(--scratch-path "$1" -c release --static-swift-stdlib --disable-local-rpath
    -Xswiftc -use-ld=lld -Xswiftc "-L$1/libraries" -Xlinker --no-export-dynamic
    -Xlinker -z -Xlinker pack-relative-relocs)
}
