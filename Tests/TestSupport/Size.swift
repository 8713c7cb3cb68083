import Foundation

/// The sizes of the large tests.
package enum Size {
  private static let environment = ProcessInfo.processInfo.environment
  // Debug builds and sanitizers are slow, so Scripts/test sets `OBS_LIGHT` for them.
  private static let isLight = environment["OBS_LIGHT"] != nil

  /// `count`, or `light` if the environment has `OBS_LIGHT`.
  package static func of(_ count: Int, light: Int) -> Int { isLight ? light : count }

  /// The seeds of `count` random programs; `OBS_SEED` sets the first one, and `OBS_COUNT` their
  /// number.
  package static func seeds(_ count: Int, light: Int) -> Range<Int> {
    let first = environment["OBS_SEED"].flatMap { Int($0) } ?? 1
    let count = environment["OBS_COUNT"].flatMap { Int($0) } ?? of(count, light: light)
    return first..<first + count
  }
}
