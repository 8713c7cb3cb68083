# The debug build of this package, and of those packages of this repository that use macros or records. They
# share the folder .build, so that equal modules are compiled once. Without an index, and with lines alone in
# the debug information, it takes a fifth less time. 'swift build' without these options compiles everything
# again.
debug_form=(--disable-index-store -Xswiftc -gline-tables-only)
debug=(--traits Macros,Records "${debug_form[@]}")

# Runs a command that builds in this folder. One at a time, because each package has another plan there.
building_debug() (
  mkdir -p .build
  exec {lock}>.build/plan.lock
  flock "$lock"
  # Otherwise SwiftPM defines the traits in a random order, and each new order compiles everything again.
  SWIFT_DETERMINISTIC_HASHING=1 "$@" </dev/null
)

build_debug() { building_debug swift build "${debug[@]}" "$@"; }  # further options …

# Builds the tests, and copies SwiftPM's plan.
plan_debug() {  # file
  planned() { swift build "${debug[@]}" --build-tests && cp .build/debug.yaml "$1"; }
  building_debug planned "$1"
}
