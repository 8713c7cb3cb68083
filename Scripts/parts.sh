# For scripts that consist of parts, of which as many run at the same time as there are processors:
#
#   part NAME command …   starts a part as soon as there is room; its output is printed when it ends
#   alone NAME command …  runs a part after all that have begun, with its output as it comes
#   after NAME …          waits until these parts have ended; ends the script if one of them has failed
#   finish                waits for all parts, and prints how long each took, and the last lines of those
#                         that have failed; false if one has
#
# Parts have no input. Do not call these functions in conditions: a part that is a function would
# continue after its first error.

parts_folder=$(mktemp -d)
trap 'parts_stop' EXIT
parts=()
declare -A parts_running=()
parts_began=$SECONDS

parts_stop() {
  local process
  for process in "${parts_running[@]}"; do kill -- "-$process" 2>/dev/null || true; done
  rm -rf "$parts_folder"
}

# Runs a command, and leaves its status, and the times of the processes that it started.
parts_run() {  # name, command …
  (
    set +e
    start=$SECONDS
    (set -e; "${@:2}")
    status=$?
    times >"$parts_folder/$1.times"
    echo "$status $((SECONDS - start)) $(tail -n 1 "$parts_folder/$1.times") $1" >"$parts_folder/$1.ended"
  )
}

# Waits until a part has ended, and prints its output.
parts_next() {
  local name
  wait -n "${parts_running[@]}" || true
  for name in "${!parts_running[@]}"; do
    if ! kill -0 "${parts_running[$name]}" 2>/dev/null; then
      echo "── $name"
      cat "$parts_folder/$name.output"
      unset "parts_running[$name]"
    fi
  done
}

part() {  # name, command …
  while [ ${#parts_running[@]} -ge "$(nproc)" ]; do parts_next; done
  parts+=("$1")
  # In a group of processes, so that it can be ended as a whole.
  set -m
  parts_run "$@" >"$parts_folder/$1.output" 2>&1 </dev/null &
  set +m
  parts_running[$1]=$!
}

alone() {  # name, command …
  while [ ${#parts_running[@]} -gt 0 ]; do parts_next; done
  parts+=("$1")
  parts_run "$@" </dev/null
}

parts_failed() {  # name
  ! grep -qs '^0 ' "$parts_folder/$1.ended"
}

after() {  # name …
  local name
  for name; do
    while [ -n "${parts_running[$name]:-}" ]; do parts_next; done
    if parts_failed "$name"; then finish || exit 1; fi
  done
}

finish() {
  local name failed=
  while [ ${#parts_running[@]} -gt 0 ]; do parts_next; done
  for name in "${parts[@]}"; do
    cat "$parts_folder/$name.ended" 2>/dev/null || echo "1 0 0m0s 0m0s $name"
  done | awk -v seconds=$((SECONDS - parts_began)) '
    function in_seconds(time) { split(time, parts, /[ms]/); return parts[1] * 60 + parts[2] }
    function line(mark, name, real, cpu) { printf "%s %-24s %8d %8.0f\n", mark, name, real, cpu }
    BEGIN { printf "\n  %-24s %8s %8s\n", "Part", "seconds", "of CPU" }
    { cpu = in_seconds($3) + in_seconds($4); line($1 ? "✘" : "✔", $5, $2, cpu); all += cpu }
    END { line(" ", "all", seconds, all) }'
  for name in "${parts[@]}"; do
    if parts_failed "$name"; then
      failed+=" $name"
      # Whoever reads only the end of a log sees the reason.
      if [ -e "$parts_folder/$name.output" ]; then
        printf '\n── %s: the end of its output\n' "$name"
        tail -n 30 "$parts_folder/$name.output"
      fi
    fi
  done
  [ -z "$failed" ] || echo "✘ Failed:$failed"
  [ -z "$failed" ]
}
