-- Faults that the engine is known to have, so that programs go on beyond them: what a program must not
-- have while a fault is there. An entry goes with the fault.
return {
  -- An immediate watcher's equals is asked about the write that a size or operator comes from, and not
  -- about its values (T5, C9).
  equals_of_computed = true,
}
