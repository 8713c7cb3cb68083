internal import CLua

/// A release of Lua 5.4.
///
/// Releases before 5.4.7 have faults through which a malicious script can crash its process, even
/// with `.safe` libraries. `LuaHost(minimumLua:)` refuses them.
public struct LuaRelease: Sendable, Hashable, Comparable, CustomStringConvertible {
  private let number: CInt

  package init(number: CInt) { self.number = number }

  /// Lua 5.4.0.
  public static let v5_4_0 = LuaRelease(number: 50400)
  /// Lua 5.4.1.
  public static let v5_4_1 = LuaRelease(number: 50401)
  /// Lua 5.4.2.
  public static let v5_4_2 = LuaRelease(number: 50402)
  /// Lua 5.4.3.
  public static let v5_4_3 = LuaRelease(number: 50403)
  /// Lua 5.4.4.
  public static let v5_4_4 = LuaRelease(number: 50404)
  /// Lua 5.4.5.
  public static let v5_4_5 = LuaRelease(number: 50405)
  /// Lua 5.4.6.
  public static let v5_4_6 = LuaRelease(number: 50406)
  /// Lua 5.4.7.
  public static let v5_4_7 = LuaRelease(number: 50407)
  /// Lua 5.4.8 or later.
  public static let v5_4_8 = LuaRelease(number: 50408)

  /// The release as which the loaded library behaves; the library itself only reports 5.4.
  ///
  /// The first use tests it, in less than a millisecond. A library with only some changes of a
  /// release counts as the release before.
  public static var loaded: LuaRelease { LuaRelease(number: clua_release()) }

  /// The faults of the release ``loaded`` that the loaded library does not have, as distributions
  /// patch their libraries; for example "CVE-2022-28805".
  ///
  /// Includes only faults that can be tested without harm.
  public static var patches: [String] {
    (0...).lazy.map { clua_release_patch($0) }.prefix { $0 != nil }
      .map { String(cString: $0!) }
  }

  /// Whether `a` came before `b`.
  public static func < (a: LuaRelease, b: LuaRelease) -> Bool { a.number < b.number }

  /// The release, as in "5.4.4".
  public var description: String { "\(number / 10000).\(number / 100 % 100).\(number % 100)" }
}

extension LuaRelease {
  /// Throws unless the loaded library is this release or a later one.
  ///
  /// - Throws: `release`.
  package func require() throws(LuaError) {
    let loaded = LuaRelease.loaded
    guard loaded < self else { return }
    let patches = LuaRelease.patches
    let addition = patches.isEmpty ? "" : " (patched: \(patches.joined(separator: ", ")))"
    throw LuaError(
      .release,
      "the Lua library behaves as release \(loaded)\(addition); the program requires \(self)")
  }
}
