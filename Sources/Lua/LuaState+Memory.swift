package import CLua

/// Memory that Swift keeps for scripts (S3), and the garbage of both languages.
extension LuaState {
  /// The memory of some scripts: of the host, or of a sandbox with a share of the host's memory.
  ///
  /// It can be used as long as the state is not freed.
  package struct Share: Equatable {
    fileprivate let pointer: UnsafeMutablePointer<clua_share>

    /// What stands for the share in the engine and in C.
    package var name: UnsafeMutableRawPointer { UnsafeMutableRawPointer(pointer) }
    /// The bytes that are in use.
    package var used: Int { Int(clamping: pointer.pointee.meter.used) }
    package var limit: Int? {
      pointer.pointee.meter.limit == 0 ? nil : Int(clamping: pointer.pointee.meter.limit)
    }
  }

  /// The memory of scripts that have no other.
  package var mainShare: Share { Share(pointer: clua_mainshare(allocator)) }

  /// The share of a name; nil names that of the host.
  package func share(named name: UnsafeMutableRawPointer?) -> Share {
    name.map { Share(pointer: $0.assumingMemoryBound(to: clua_share.self)) } ?? mainShare
  }

  /// The memory of the scripts that run now.
  package var share: Share { Share(pointer: allocator.pointee.current) }

  /// Makes a share for scripts, which `account` gets.
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

  /// The scripts of a share have ended; blocks of it that others hold stay its own.
  package func close(_ share: Share) {
    if !isFreed { clua_share_close(allocator, share.pointer) }
  }

  // MARK: What Swift keeps

  /// Takes bytes that Swift keeps for scripts from the memory that they may use.
  ///
  /// Finalizers may run.
  ///
  /// - Throws: `memory` where there is not as much left.
  package func charge(_ bytes: Int, to share: Share) throws(LuaError) {
    guard !isFreed else { throw .closed }
    try makeRoom(for: bytes, in: share)
    chargeAfterwards(bytes, to: share)
  }

  package func charge(_ bytes: Int) throws(LuaError) {
    guard !isFreed else { throw .closed }
    try charge(bytes, to: share)
  }

  /// - Throws: `memory` where more is in use than may be, by what was charged afterwards.
  package func checkMemory() throws(LuaError) {
    if !isFreed { try makeRoom(for: 0, in: share) }
  }

  /// Collects garbage if memory would have to be refused otherwise.
  private func makeRoom(for bytes: Int, in share: Share) throws(LuaError) {
    guard clua_isbeyond(allocator, share.pointer, bytes) else { return }
    freeGarbage(stack)
    if clua_isbeyond(allocator, share.pointer, bytes) { throw .noMemory }
  }

  /// Whether so many bytes could be charged without collecting garbage.
  package func hasMemory(for bytes: Int, in share: Share) -> Bool {
    !isFreed && !clua_isbeyond(allocator, share.pointer, bytes)
  }

  /// Takes bytes that Swift has used already: scripts find less memory from now on.
  package func chargeAfterwards(_ bytes: Int, to share: Share) {
    if !isFreed { clua_count(allocator, share.pointer, bytes) }
  }

  /// Gives back bytes that were charged to a share.
  package func discharge(_ bytes: Int, from share: Share) { chargeAfterwards(-bytes, to: share) }

  // MARK: Garbage

  /// Lets the collector do the work that is due for memory that Swift keeps.
  ///
  /// Only called where code of scripts could run, which may call finalizers at any time. Scripts
  /// that are to stop don't wait for it.
  @inline(__always)
  package func collectDue(_ L: LuaStack) {
    if clua_iscollectordue(allocator), !interrupter.isStopping { work(L) }
  }

  /// As `collectDue`, before a chunk or a callback that begins a turn: where hardly any memory is
  /// left, garbage of earlier turns is collected first, as Lua itself would refuse memory.
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

  /// Frees all garbage, with finalizers and without.
  package func freeGarbage(_ L: LuaStack) {
    recycleReleased(L)
    clua_freegarbage(L.pointer, allocator)
    // Finalizers may have released more.
    recycleReleased(L)
  }
}

extension LuaStack {
  /// The error for a stack that could not grow just now: there is no memory for more, or it is as
  /// deep as it may be.
  package func noRoom(to purpose: String? = nil) -> LuaError {
    if clua_ismemoryrefused(pointer) { return .noMemory }
    return LuaError("stack overflow" + (purpose.map { ": no room to \($0)" } ?? ""))
  }
}
