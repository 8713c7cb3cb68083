import Foundation

/// How large the large tests are.
enum Size {
  // Under a sanitizer each step takes many times as long.
  private static let isLight = ProcessInfo.processInfo.environment["OBS_LIGHT"] != nil

  /// `count`, or `light` where the environment has `OBS_LIGHT`.
  static func of(_ count: Int, light: Int) -> Int { isLight ? light : count }
}
