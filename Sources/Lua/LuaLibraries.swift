/// Standard libraries of Lua.
public struct LuaLibraries: OptionSet, Sendable {
  /// One bit per library.
  public let rawValue: UInt32
  /// Makes a set of libraries from bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// `print` and the other basic functions.
  public static let base = LuaLibraries(rawValue: 1 << 0)
  /// `package` and `require`.
  public static let package = LuaLibraries(rawValue: 1 << 1)
  /// `coroutine`: making and running coroutines.
  public static let coroutine = LuaLibraries(rawValue: 1 << 2)
  /// `table`: `insert`, `sort`, `concat` and the like.
  public static let table = LuaLibraries(rawValue: 1 << 3)
  /// `io`: files and standard streams.
  public static let io = LuaLibraries(rawValue: 1 << 4)
  /// `os`: time, environment, processes, and removing and renaming files.
  public static let os = LuaLibraries(rawValue: 1 << 5)
  /// `string`: text, and the methods of strings.
  public static let string = LuaLibraries(rawValue: 1 << 6)
  /// `math`: functions and random numbers.
  public static let math = LuaLibraries(rawValue: 1 << 7)
  /// `utf8`: characters of texts.
  public static let utf8 = LuaLibraries(rawValue: 1 << 8)
  /// `debug`: functions for debuggers; not for untrusted scripts.
  public static let debug = LuaLibraries(rawValue: 1 << 9)
  /// Restricts libraries to their functions for untrusted scripts; see `safe`.
  static let restricted = LuaLibraries(rawValue: 1 << 10)
  /// The libraries for untrusted scripts (S5).
  ///
  /// Nothing in them reaches outside of the state, crashes Lua, or cannot be stopped. There is no
  /// `io`, `package`, `dofile`, `loadfile`, `string.dump` or `warn`. `load` takes text only; `os`
  /// has `clock`, `date`, `difftime` and `time`; `debug` has `traceback`; `collectgarbage` only
  /// counts; and `setmetatable` refuses `__gc`. In a `LuaHost` the libraries are read-only. With a
  /// Lua library before 5.4.7, a malicious script can still crash its process through faults of
  /// Lua: ``LuaRelease``.
  public static let safe: LuaLibraries = [
    .base, .coroutine, .table, .os, .string, .math, .utf8, .debug, .restricted,
  ]
  /// All standard libraries.
  public static let all = LuaLibraries(rawValue: (1 << 10) - 1)
}
