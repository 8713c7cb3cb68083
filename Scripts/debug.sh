# The debug build of this package, and of those packages of this repository that use macros or records. They
# share the folder .build, so that equal modules are compiled once. With line numbers only, a debugger shows no
# variables, but the build takes a tenth less time. 'swift build' without these options compiles everything
# again. (Without an index it would take another tenth less, but SwiftPM then finds no tests.)
debug_form=(-Xswiftc -gline-tables-only)
debug=(--traits Macros,Records "${debug_form[@]}")

# Runs a command that builds in this folder. One at a time, because each package has another plan there.
building_debug() (
  mkdir -p .build
  exec {lock}>.build/plan.lock
  flock "$lock" || exit
  # Otherwise SwiftPM defines the traits in a random order, and each new order compiles everything again.
  SWIFT_DETERMINISTIC_HASHING=1 "$@" </dev/null
)

build_debug() { building_debug swift build "${debug[@]}" "$@"; }  # further options …

# Builds the tests, and copies SwiftPM's plan.
plan_debug() {  # file
  planned() { swift build "${debug[@]}" --build-tests && cp .build/debug.yaml "$1"; }
  building_debug planned "$1"
}
