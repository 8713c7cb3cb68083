-- Faults that the engine is known to have, so that programs go on beyond them: what a program must not
-- have while a fault is there. An entry goes with the fault.
return {
  -- obs.forget of a property that is nil calls those who go through `*` to something else (T5, Z4).
  forgetting = true,
  -- An immediate watcher anchors digits on an array that arrives in the write, not at the flush (C4).
  immediate_anchors = true,
  -- An immediate watcher's equals is asked about the write that a size or operator comes from, and not
  -- about its values (T5, C9).
  equals_of_computed = true,
}
