internal import CLua
internal import Lua
internal import Observables

/// How many of which things the scripts of a sandbox may have, and have.
final class ScriptQuotas {
  /// The limits in force: those of the host, or what scripts have lowered them to.
  @exclusivity(unchecked) private(set) var limits: ScriptLimits
  @exclusivity(unchecked) private var counts: [Int] = [0, 0, 0]

  /// What is counted.
  enum Quota: Int {
    case watchers, timers, tasks
  }

  init(_ limits: ScriptLimits) { self.limits = limits }

  /// The names of limits for scripts, and where they are kept.
  static let names: [(String, WritableKeyPath<ScriptLimits, Int?> & Sendable)] = [
    ("watchers", \.watchers), ("timers", \.timers), ("tasks", \.tasks),
    ("path_components", \.pathComponents), ("chunk_size", \.chunkSize),
    ("call_depth", \.callDepth),
  ]

  func set(_ limits: ScriptLimits) { self.limits = limits }

  /// Lowers a limit; a higher value than the one in force changes nothing.
  func lower(_ limit: WritableKeyPath<ScriptLimits, Int?>, to value: Int) {
    limits[keyPath: limit] = min(limits[keyPath: limit] ?? .max, value)
  }

  private func limit(of quota: Quota) -> Int? {
    switch quota {
    case .watchers: limits.watchers
    case .timers: limits.timers
    case .tasks: limits.tasks
    }
  }

  /// Counts one more.
  ///
  /// - Throws: `quota` where there are as many as there may be.
  func take(_ quota: Quota) throws(LuaError) {
    if let limit = limit(of: quota), counts[quota.rawValue] >= limit {
      throw LuaError(.quota, "too many \(quota): a script may have \(limit)")
    }
    counts[quota.rawValue] += 1
  }

  func giveBack(_ quota: Quota) { counts[quota.rawValue] -= 1 }

  /// Sets how many there are, found by counting.
  func recount(_ quota: Quota, _ count: Int) { counts[quota.rawValue] = count }

  /// - Throws: `quota` for a path that is too long, at an index of the stack.
  func checkPath(at index: CInt, of L: LuaStack) throws(LuaError) {
    guard let limit = limits.pathComponents else { return }
    if clua_pathcomponents(L.pointer, index) > limit {
      throw LuaError(.quota, "the key path has too many components: it may have \(limit)")
    }
  }

  /// - Throws: `quota` for a chunk that is too long.
  func checkChunk(_ size: Int, _ name: String) throws(LuaError) {
    guard let limit = limits.chunkSize, size > limit else { return }
    throw LuaError(.quota, "the chunk has \(size) bytes: it may have \(limit)")
  }
}
