internal import CTables
package import Lua
internal import Observables

/// Setup of the state: the callbacks of C, and the functions for scripts.
extension LuaHost {
  /// Replaces the base functions that could tell an observed table from a plain one, and offers the
  /// module `obs`.
  ///
  /// Call this after the libraries are open and before any script runs.
  package func install() throws(LuaError) {
    try state.withStack { L throws(LuaError) in
      var observation = clua_observation(
        context: Unmanaged.passUnretained(self).toOpaque(),
        written: { context, L, write in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.tables.written(LuaStack(L!), write!)
          }
        },
        outdated: { context, L, write in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.tables.outdated(LuaStack(L!), write!)
          }
        },
        batch: { context, L, begins in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.tables.batch(LuaStack(L!), begins)
          }
        },
        ended: { context, L, node, owner in
          guard let L else { return }
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.receiver.tableEnded(LuaStack(L), owner)
          }
        },
        revived: { context, L, node in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.receiver.tableRevived(LuaStack(L!), node!)
          }
        },
        armings: engine.slots.armings, collectors: engine.comparisons.collectors,
        compute: { context, L, slot in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.lazies.compute(LuaStack(L!), slot!)
          }
        },
        evaluated: { evaluation in
          Unmanaged<ScriptLazies>.fromOpaque(evaluation!.pointee.context)._withUnsafeGuaranteedRef {
            $0.evaluated(evaluation!)
          }
        },
        prepare: { context, L, slot in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.lazies.prepareToAssign(LuaStack(L!), slot!)
          }
        },
        assign: { context, L, slot, isInvalid in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.lazies.assign(LuaStack(L!), slot!, isInvalid: isInvalid)
          }
        },
        read: { context, L, table, slot, reading in
          Unmanaged<LuaHost>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            $0.lazies.noteRead(LuaStack(L!), table!, slot, clua_reading(UInt32(reading)))
          }
        },
        stamp: engine.tracking.stamp)
      try state.check(clua_try_observation_install(L.pointer, &observation), L)
      try state.check(clua_try_watchyields(L.pointer), L)
      lazies.install(L)
      try anchors.install(state, L)
      try paths.install(self, L)
      try sources.install(state, L)
      try objects.install(L)
      try module.watchers.installHandles(L)
      try module.install(L)
    }
  }
}
