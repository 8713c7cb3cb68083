internal import Foundation
public import Testing

/// A script that checks itself, as one case of a parameterised test.
///
/// ```swift
/// @Test(arguments: ScriptFixture.all(in: "Fixtures"))
/// func `scripts of orders`(fixture: ScriptFixture) {
///   fixture.run { host in try host.set("order", to: Order()) }
/// }
/// ```
///
/// Usable on any thread; a run stays on the thread that calls `run`.
public struct ScriptFixture: Sendable, Hashable, Codable, Identifiable {
  /// The file's name in its folder, and the name of the test case.
  public let name: String
  /// The path in failures and error messages: relative to the current directory, if the file is
  /// inside it.
  public let path: String
  /// Why there is nothing to run; a fixture with a problem fails.
  let problem: String?

  /// Distinguishes the fixtures of a folder.
  public var id: String { name }

  /// The `.lua` files of a folder beside the calling file, sorted by name.
  ///
  /// Subfolders are not searched: they may hold files that fixtures `require`. If the folder does
  /// not exist or has no such files, the only fixture is one that fails and reports this, because a
  /// test without cases would pass. The environment variable `FIXTURE` selects fixtures whose names
  /// contain its text.
  ///
  /// - Complexity: O(files of the folder).
  public static func all(
    in folder: String = "Fixtures", beside file: StaticString = #filePath
  ) -> [ScriptFixture] {
    all(
      in: folder, beside: file,
      matching: ProcessInfo.processInfo.environment["FIXTURE"] ?? "")
  }

  package static func all(
    in folder: String, beside file: StaticString = #filePath, matching text: String
  ) -> [ScriptFixture] {
    let base = URL(filePath: "\(file)").deletingLastPathComponent()
    let folder = URL(filePath: folder, relativeTo: base).standardizedFileURL.path()
    let path = shown(folder)
    guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      return [ScriptFixture(name: path, path: path, problem: "there is no folder \(path)")]
    }
    let names = files.filter { $0.hasSuffix(".lua") }.sorted()
    if names.isEmpty {
      return [ScriptFixture(name: path, path: path, problem: "there is no \(path)/*.lua")]
    }
    let chosen = text.isEmpty ? names : names.filter { $0.contains(text) }
    return chosen.map { ScriptFixture(name: $0, path: "\(path)/\($0)", problem: nil) }
  }

  /// A path as compilers show it.
  private static func shown(_ path: String) -> String {
    let current = FileManager.default.currentDirectoryPath
    let path = path.hasSuffix("/") ? String(path.dropLast()) : path
    return path.hasPrefix(current + "/") ? String(path.dropFirst(current.count + 1)) : path
  }
}

extension ScriptFixture: CustomTestStringConvertible {
  /// The name in reports of tests.
  public var testDescription: String { name }
}
