internal import CLua
internal import CSandbox
import LibC
internal import Lua
internal import Observables

/// The quotas of a sandbox's scripts, and their current use.
final class ScriptQuotas {
  /// The limits in force: the host's, or lower ones that scripts have set.
  @exclusivity(unchecked) private(set) var limits: ScriptLimits
  @exclusivity(unchecked) private var counts = Counts()

  private struct Counts {
    var watchers = 0
    var timers = 0
    var tasks = 0
  }

  init(_ limits: ScriptLimits) { self.limits = limits }

  /// The script names of limits, and their key paths.
  static let names: [(String, WritableKeyPath<ScriptLimits, Int?> & Sendable)] = [
    ("watchers", \.watchers), ("timers", \.timers), ("tasks", \.tasks),
    ("path_components", \.pathComponents), ("chunk_size", \.chunkSize),
    ("call_depth", \.callDepth),
  ]

  func set(_ limits: ScriptLimits) { self.limits = limits }

  /// Lowers a limit; does nothing if the value is higher than the limit in force.
  func lower(_ limit: WritableKeyPath<ScriptLimits, Int?>, to value: Int) {
    limits[keyPath: limit] = min(limits[keyPath: limit] ?? .max, value)
  }

  // MARK: Counting

  /// Counts one more watcher.
  ///
  /// - Throws: `quota` if no more are allowed, as the other functions do.
  func takeWatcher() throws(LuaError) {
    counts.watchers = try next(counts.watchers, limits.watchers, "watchers")
  }

  func giveWatcherBack() { counts.watchers -= 1 }

  /// Counts one more timer or callback of the next turn.
  func takeTimer() throws(LuaError) {
    counts.timers = try next(counts.timers, limits.timers, "timers")
  }

  func giveTimerBack() { counts.timers -= 1 }

  /// Counts one more task.
  func takeTask() throws(LuaError) {
    counts.tasks = try next(counts.tasks, limits.tasks, "tasks")
  }

  func giveTaskBack() { counts.tasks -= 1 }

  /// Sets the number of tasks, found by counting them.
  func recountTasks(_ count: Int) { counts.tasks = count }

  @inline(__always)
  private func next(_ count: Int, _ limit: Int?, _ name: StaticString) throws(LuaError) -> Int {
    if let limit, count >= limit {
      throw LuaError(.quota, "too many \(name): a script may have \(limit)")
    }
    return count + 1
  }

  // MARK: Checking

  /// An upper bound for the average bytes of a key path's component.
  private static let componentBytes = 256

  /// - Throws: `quota` for a path with too many components.
  func checkComponents(_ count: Int) throws(LuaError) {
    guard let limit = limits.pathComponents, count > limit else { return }
    throw LuaError(.quota, "the key path has too many components: it may have \(limit)")
  }

  /// - Throws: `quota` if the path at an index of the stack is too long.
  func checkPath(at index: CInt, of L: LuaStack) throws(LuaError) {
    guard limits.pathComponents != nil else { return }
    // Counting the components of a long text takes long, so the bytes are checked first.
    try checkPathBytes(Int(lua_rawlen(L.pointer, index)))
    try checkComponents(Int(clua_pathcomponents(L.pointer, index)))
  }

  /// - Throws: `quota` if the strings from an index to the top, the keys of a path, are too many or
  ///   too long.
  func checkKeys(from first: CInt, of L: LuaStack) throws(LuaError) {
    try checkComponents(Int(L.height - first + 1))
    var bytes = 0
    for index in first...L.height where L.isString(at: index) {
      bytes += Int(lua_rawlen(L.pointer, index))
    }
    try checkPathBytes(bytes)
  }

  private func checkPathBytes(_ count: Int) throws(LuaError) {
    guard let limit = limits.pathComponents else { return }
    let bytes = limit.multipliedReportingOverflow(by: Self.componentBytes)
    guard !bytes.overflow, count > bytes.partialValue else { return }
    throw LuaError(.quota, "the key path is too long: it may have \(bytes.partialValue) bytes")
  }

  /// - Throws: `quota` for a chunk that is too long.
  func checkChunk(_ size: Int, _ name: String) throws(LuaError) {
    guard let limit = limits.chunkSize, size > limit else { return }
    throw LuaError(.quota, "the chunk has \(size) bytes: it may have \(limit)")
  }

  /// - Throws: `quota` for a file with a chunk that is too long, if the file is accessible.
  func checkFile(_ path: String) throws(LuaError) {
    var status = stat()
    if limits.chunkSize != nil, stat(path, &status) == 0 {
      try checkChunk(Int(status.st_size), path)
    }
  }
}
