package import CLua

/// Memory that Swift keeps for scripts (S3), and the garbage of both languages.
extension LuaState {
  /// The memory of some scripts: of the host, or of a sandbox with a share of the host's memory.
  ///
  /// It is usable until the state is freed.
  package struct Share: Equatable {
    fileprivate let pointer: UnsafeMutablePointer<clua_share>

    /// The identifier of the share in the engine and in C.
    package var name: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }
    /// The bytes in use.
    package var used: Int { Int(clamping: pointer.pointee.meter.used) }
  }

  /// The memory of scripts without another share.
  package var mainShare: Share { Share(pointer: clua_mainshare(allocator)) }

  /// The share with an identifier; nil is the host's.
  package func share(named name: UnsafeMutableRawPointer?) -> Share {
    name.map { Share(pointer: $0.assumingMemoryBound(to: clua_share.self)) } ?? mainShare
  }

  /// The memory of the running scripts.
  package var share: Share { Share(pointer: allocator.pointee.current) }

  /// Makes a share for scripts and adds it to `account`.
  ///
  /// - Throws: `memory`.
  package func openShare(
    limit: Int, for account: UnsafeMutablePointer<clua_account>
  ) throws(LuaError) -> Share {
    guard !isFreed else { throw .closed }
    guard let share = clua_share_open(allocator, Self.limit(limit)) else { throw .noMemory }
    account.pointee.share = share
    return Share(pointer: share)
  }

  /// Closes the share of scripts that have ended; blocks held by others remain in it.
  package func close(_ share: Share) {
    if !isFreed { clua_share_close(allocator, share.pointer) }
  }

  // MARK: Memory used by Swift

  /// Charges bytes that Swift keeps for scripts to the memory that they may use.
  ///
  /// Finalizers may run.
  ///
  /// - Throws: `memory` if not enough is left.
  package func charge(_ bytes: Int, to share: Share) throws(LuaError) {
    guard !isFreed else { throw .closed }
    try makeRoom(for: bytes, in: share)
    chargeAfterwards(bytes, to: share)
  }

  package func charge(_ bytes: Int) throws(LuaError) {
    guard !isFreed else { throw .closed }
    try charge(bytes, to: share)
  }

  /// Throws if more memory is in use than allowed, because of bytes charged afterwards.
  ///
  /// - Throws: `memory`.
  package func checkMemory() throws(LuaError) {
    if !isFreed { try makeRoom(for: 0, in: share) }
  }

  /// Collects garbage if memory would otherwise be refused.
  private func makeRoom(for bytes: Int, in share: Share) throws(LuaError) {
    guard clua_isbeyond(allocator, share.pointer, bytes) else { return }
    freeGarbage(stack)
    if clua_isbeyond(allocator, share.pointer, bytes) { throw .noMemory }
  }

  /// Whether this many bytes can be charged without collecting garbage.
  package func hasMemory(for bytes: Int, in share: Share) -> Bool {
    !isFreed && !clua_isbeyond(allocator, share.pointer, bytes)
  }

  /// Charges bytes that Swift has already used, which leaves less memory for scripts.
  package func chargeAfterwards(_ bytes: Int, to share: Share) {
    if !isFreed { clua_count(allocator, share.pointer, bytes) }
  }

  /// Returns bytes that were charged to a share.
  package func discharge(_ bytes: Int, from share: Share) { chargeAfterwards(-bytes, to: share) }

  // MARK: Garbage

  /// Lets the collector do the work that is due for memory that Swift keeps.
  ///
  /// Only called where code of scripts could run, as this may call finalizers. Scripts that have to
  /// stop do not wait for it.
  @inline(__always)
  package func collectDue(_ L: LuaStack) {
    if clua_iscollectordue(allocator), !interrupter.isStopping { work(L) }
  }

  /// Does the due work of the collector before a chunk or a callback that begins a turn.
  ///
  /// If hardly any memory is left, it first collects garbage of earlier turns, as Lua itself would
  /// refuse memory.
  package func collectBeforeTurn(_ L: LuaStack) {
    let share = allocator.pointee.current
    let reserve = max(allocator.pointee.whole.limit, share!.pointee.meter.limit) / 64
    if clua_isbeyond(allocator, share, reserve) { freeGarbage(L) } else { collectDue(L) }
  }

  @inline(never)
  private func work(_ L: LuaStack) {
    recycleReleased(L)
    clua_workcollector(L.pointer, allocator)
  }

  /// Collects all garbage, including objects with finalizers.
  package func freeGarbage(_ L: LuaStack) {
    recycleReleased(L)
    clua_freegarbage(L.pointer, allocator)
    // Finalizers may have released more.
    recycleReleased(L)
  }
}

extension LuaStack {
  /// The error for a stack that could not grow just now: out of memory, or at its maximum depth.
  package func noRoom(to purpose: String? = nil) -> LuaError {
    if clua_ismemoryrefused(pointer) { return .noMemory }
    return LuaError("stack overflow" + (purpose.map { ": no room to \($0)" } ?? ""))
  }
}
