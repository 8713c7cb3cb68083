internal import CLua
internal import CSandbox

/// A Lua state: a world of values, with its scripts.
///
/// It is confined to one thread (or one loop, or one queue): the code that uses it or its handles
/// must ensure that. The state of a `LuaHost` belongs to the thread of its loop; elsewhere it
/// throws `thread`.
///
/// Handles (``LuaTable``, ``LuaFunction``, …) may be released anywhere, even after the state was
/// closed. No function here leaves anything on Lua's stack, and no Lua error jumps over Swift.
/// <doc:Calculator> uses a state.
public final class LuaState {
  // It has more fields than most types: entering and leaving the state touches each of them, so
  // moving some into a separate object would add a step to every call.

  package let pins: LuaPins
  /// The registry index of the table that holds the pins.
  package let pinTable: CInt
  private let main: OpaquePointer
  let allocator: UnsafeMutablePointer<clua_allocator>
  private let home: UnsafeMutablePointer<clua_home>
  /// Stops the running scripts, from any thread.
  public let interrupter = LuaInterrupter()
  /// The stack of the running coroutine, in which Lua last called Swift.
  package var stack: LuaStack {
    @inlinable get { LuaStack(current.pointee) }
    @inlinable set { current.pointee = newValue.pointer }
  }
  // This has separately allocated memory: each write reads it, and a checked field would cost too
  // much.
  @usableFromInline package let current: UnsafeMutablePointer<OpaquePointer>
  @exclusivity(unchecked) private var depth = 0
  /// Whether `close()` was called.
  @exclusivity(unchecked) public private(set) var isClosed = false
  /// Whether the memory is freed: `close()` may have to wait for active calls.
  @exclusivity(unchecked) package private(set) var isFreed = false
  private var isWaiting = false
  /// Whether the calling code may use the state; nil if its user ensures that.
  private var isHere: (@Sendable () -> Bool)?
  /// The object that a bridge builds around the state; the bridge sets this to nil when it ends.
  package unowned(unsafe) var attachment: AnyObject?
  /// The object that makes turns of calls; it sets this to nil when it ends.
  package unowned(unsafe) var turns: (any LuaTurns)?
  /// The error that a Swift function threw last, if that came out of Lua.
  var reraised: LuaError?

  /// Makes a state with the given standard `libraries`.
  ///
  /// Scripts may use at most `memoryLimit` bytes.
  /// - Throws: `memory`.
  public convenience init(
    libraries: LuaLibraries = .all, memoryLimit: Int? = nil
  ) throws(LuaError) {
    try self.init(libraries: libraries, memoryLimit: memoryLimit, refusing: nil)
  }

  /// Makes a state in which the requests for memory in `refusing`, counted from the first, fail.
  package init(
    libraries: LuaLibraries, memoryLimit: Int?, refusing: ClosedRange<UInt64>?
  ) throws(LuaError) {
    let allocator = UnsafeMutablePointer<clua_allocator>.allocate(capacity: 1)
    allocator.initialize(to: clua_allocator())
    home = .allocate(capacity: 1)
    home.initialize(
      to: clua_home(
        host: nil, guard: interrupter.record, allocator: nil, tables: nil, restricted: false))
    let made = clua_newstate(allocator, home)
    var pinTable: CInt = 0
    clua_meter_limit(&allocator.pointee.whole, Self.limit(memoryLimit))
    allocator.pointee.refuse_from = refusing?.lowerBound ?? 0
    allocator.pointee.refuse_to = refusing?.upperBound ?? 0
    guard let main = made, clua_try_install(main, &pinTable) == LUA_OK,
      clua_try_openlibs(main, libraries.rawValue) == LUA_OK,
      !libraries.contains(.restricted) || clua_try_makesafe(main) == LUA_OK
    else {
      if let made { clua_closestate(made) }
      clua_allocator_end(allocator)
      allocator.deallocate()
      home.deallocate()
      throw .noMemory
    }
    pins = LuaPins()
    self.pinTable = pinTable
    self.main = main
    current = .allocate(capacity: 1)
    current.initialize(to: main)
    self.allocator = allocator
    clua_guard_usememory(interrupter.record, allocator)
    pins.state = self
    // The pins are released when the state is freed: finalizers may use them until then.
    home.pointee.host = Unmanaged.passRetained(pins).toOpaque()
  }

  deinit {
    // Finalizers must not find an object that is being destroyed.
    pins.close()
    free()
    current.deallocate()
  }

  /// Closes the state: calls the finalizers of its objects and frees its memory.
  ///
  /// From then on the state and its handles throw `closed`. When a Swift function called by a
  /// script closes the state, this takes effect when the outermost call into the state returns.
  /// Dropping the last reference to the state also closes it, but then finalizers cannot call Swift
  /// functions. Objects held by Swift functions are released after the finalizers have run. C
  /// modules stay loaded, because a thread that one has started may still run its code. Closing
  /// twice does nothing.
  public func close() {
    isClosed = true
    if depth == 0 { free() }
  }

  /// Closes the state like `close()`, for a bridge in the middle of calls that are not counted: the
  /// next `close()` frees the memory.
  package func closeLater() {
    isClosed = true
    // This counts as a call that never ends.
    depth += 1
    isWaiting = true
  }

  /// Frees the memory that `closeLater` has left.
  package func finishClosing() {
    if isWaiting {
      isWaiting = false
      depth -= 1
    }
    close()
  }

  private func free() {
    guard !isFreed else { return }
    isFreed = true
    isClosed = true
    stack = LuaStack(main)
    // Calls by finalizers must not close the state again.
    depth += 1
    clua_closestate(main)
    pins.close()
    reraised = nil
    Unmanaged.passUnretained(pins).release()
    clua_allocator_end(allocator)
    allocator.deallocate()
    home.deallocate()
  }

  /// The bytes in use by the state.
  public var memoryInUse: Int { isFreed ? 0 : Int(clamping: allocator.pointee.whole.used) }

  /// The bytes that the state may use, or nil for no limit.
  ///
  /// Beyond the limit Lua raises "not enough memory".
  public var memoryLimit: Int? {
    get {
      isFreed || allocator.pointee.whole.limit == 0
        ? nil : Int(clamping: allocator.pointee.whole.limit)
    }
    set { if !isFreed { clua_meter_limit(&allocator.pointee.whole, Self.limit(newValue)) } }
  }

  /// A limit for C, in which 0 is no limit.
  static func limit(_ bytes: Int?) -> Int { bytes.map { max(1, $0) } ?? 0 }

  /// Replaces the functions with which scripts could continue after they were stopped.
  package func prepareStops() throws(LuaError) {
    try withStack { L throws(LuaError) in try check(clua_try_guard_install(L.pointer), L) }
  }

  /// Throws if scripts have to stop; for loops over data made by scripts.
  ///
  /// - Throws: the error that stops scripts.
  package func checkStop() throws(LuaError) {
    guard interrupter.isStopping else { return }
    if stack.hasRoom(for: 10) { interrupter.notePlace(stack) }
    let (code, message) = interrupter.lastStop
    throw LuaError(code, message)
  }

  /// Ends everything that belonged to objects freed by Lua, whenever Swift is entered.
  ///
  /// Once scripts have to stop, the rest waits for later calls. Throws nothing: ending an object
  /// must be completed even if scripts are stopped.
  package func recoverLost(_ L: LuaStack) {
    while clua_recover(L.pointer), !interrupter.isStopping {}
  }

  /// Whether to report a stop of scripts: only the first one of a turn is reported.
  package func takeStopReport() -> Bool { interrupter.takeReport() }

  /// Refuses `count` requests for memory starting with the `first`th from now; 0 refuses none.
  package func refuseAllocations(from first: UInt64, count: UInt64) {
    guard first > 0, count > 0 else {
      allocator.pointee.refuse_from = 0
      return
    }
    let next = allocator.pointee.requests + first
    allocator.pointee.refuse_from = next
    allocator.pointee.refuse_to = count > .max - next ? .max : next + count - 1
  }

  /// Collects all garbage and calls the finalizers that are due.
  ///
  /// - Throws: `closed`.
  public func collectGarbage() throws(LuaError) {
    try withStack { L throws(LuaError) in clua_collect(L.pointer) }
  }

  /// The state of a coroutine; nil if the state is closed, or not a `LuaState`.
  package static func owner(of L: LuaStack) -> LuaState? {
    guard let host = clua_host(L.pointer) else { return nil }
    return Unmanaged<LuaPins>.fromOpaque(host)._withUnsafeGuaranteedRef { pins in pins.state }
  }

  /// Runs `body` with at least 20 free slots, and restores the height of the stack.
  ///
  /// - Throws: `closed`, `memory` if the stack cannot grow, and errors of `body`.
  package func withStack<Result>(
    _ body: (LuaStack) throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    try checkThread()
    guard !isClosed else { throw .closed }
    guard depth == 0, let turns else { return try onStack(body) }
    return try turns.keeping { () throws(LuaError) in try onStack(body) }
  }

  @inline(__always)
  private func onStack<Result>(
    _ body: (LuaStack) throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    let L = stack
    guard L.hasRoom() else { throw L.noRoom() }
    recycleReleased(L)
    if L.hasLost { recoverLost(L) }
    let height = L.height
    depth += 1
    defer {
      L.height = height
      depth -= 1
      if isClosed, depth == 0 { free() }
    }
    return try body(L)
  }

  /// Makes the state throw `thread` from now on if `isHere` returns false.
  package func confine(to isHere: @escaping @Sendable () -> Bool) { self.isHere = isHere }

  /// Whether the calling code may use the state.
  package var isOnThread: Bool { isHere?() ?? true }

  package func checkThread() throws(LuaError) {
    if !isOnThread { throw .otherThread }
  }

  /// Runs `body` as a call by Lua in the coroutine `L`, which becomes the current one.
  package func entered<Result>(
    from L: LuaStack, _ body: () -> Result
  ) -> Result {
    let outer = stack
    stack = L
    depth += 1
    reraised = nil
    defer {
      depth -= 1
      stack = outer
    }
    return body()
  }

  /// Runs a call made by Swift, as a turn if the state has turns and none is active.
  func inTurn<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result {
    guard let turns, !isClosed, isOnThread, depth == 0, !turns.isUnderWay else { return try body() }
    return try turns.run(body)
  }

  /// Releases the objects whose last handles are gone; otherwise making the next handle does.
  /// [-0, +0, -]
  package func recycleReleased(_ L: LuaStack) {
    for slot in pins.takeReleased() {
      L.push(false)
      clua_setpin(L.pointer, pinTable, slot)
      pins.recycle(slot)
    }
  }

  /// Keeps the object on top of the stack alive. [-1, +0, -]
  func pin(_ L: LuaStack) throws(LuaError) -> LuaPin {
    recycleReleased(L)
    let slot = try takeSlot(L)
    let address = UInt(bitPattern: L.address(at: -1))
    clua_setpin(L.pointer, pinTable, slot)
    return LuaPin(pins: pins, slot: slot, address: address, sandbox: interrupter.sandbox)
  }

  private func takeSlot(_ L: LuaStack) throws(LuaError) -> CInt {
    if let slot = pins.takeFree() { return slot }
    let (first, last) = (pins.capacity + 1, max(16, pins.capacity * 2))
    let status = clua_try_growpins(L.pointer, pinTable, first, last)
    // Finalizers may have used all free slots, or added some: only the current state counts.
    guard status == LUA_OK else {
      L.pop()
      throw .noMemory
    }
    if pins.capacity < last { pins.add(max(first, pins.capacity + 1)...last) }
    return try takeSlot(L)
  }
}

/// The turns of the loop that a state belongs to.
package protocol LuaTurns: AnyObject {
  /// Whether a turn, or a part of one, is active.
  var isUnderWay: Bool { get }
  /// Runs `body`, which may call scripts, and keeps what they use meanwhile.
  func keeping<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result
  /// Runs `body` as a turn.
  func run<Result>(_ body: () throws(LuaError) -> Result) throws(LuaError) -> Result
  /// Runs `body` as code of a sandbox, on its account.
  ///
  /// - Throws: `closed`, and errors of `body`.
  func enter<Result>(
    _ sandbox: UInt32, _ body: () throws(LuaError) -> Result
  ) throws(LuaError) -> Result
  /// Called when an error shows that scripts were stopped, possibly several times for one stop.
  func scriptsWereStopped()
  /// Called with an error of the program's own that it cannot get in another way.
  func report(_ error: LuaError)
  /// Called when an error shows that scripts reached a limit of memory or number, or were stopped.
  func scriptsMetLimit()
}
