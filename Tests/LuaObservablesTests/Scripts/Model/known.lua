-- Faults that the engine is known to have, so that programs go on beyond them: what a program must not
-- have while a fault is there. An entry goes with the fault.
return {
  -- An immediate watcher that is due (initial, schedule) is not called at the end of a batch (T9).
  due_immediate = true,
  -- run of a watcher that is pending (P6).
  run_pending = true,
  -- equals is asked about the first of several changes only (T5, C1).
  equals_of_lists = true,
  -- obs.trigger with an object as the previous value wires and unwires what is not there (P6).
  trigger_previous = true,
  -- A watcher that waits for the end of one batch is not called after another one inside (T9).
  inner_batches = true,
  -- An immediate watcher anchors digits on an array that arrives in the write, not at the flush (C4).
  immediate_anchors = true,
  -- obs.assign and obs.clear set lazy keys (C13).
  assigning_lazies = true,
  -- obs.forget of a property that is nil calls (T5, Z4).
  forgetting = true,
}
