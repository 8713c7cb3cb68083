internal import FixtureChecks
internal import Foundation
package import Testing

/// An issue of the current test, recorded by a run of a fixture.
package struct FixtureIssue {
  /// The error that `prepare` threw; nil for a failure of the script, which is only text.
  package let error: (any Error)?
  package let text: String
  package let sourceLocation: SourceLocation

  init(_ text: String, error: (any Error)? = nil, at sourceLocation: SourceLocation) {
    self.error = error
    self.text = text
    self.sourceLocation = sourceLocation
  }

  init(_ failure: FixtureFailure) {
    let current = FileManager.default.currentDirectoryPath
    let path = failure.file.hasPrefix("/") ? failure.file : "\(current)/\(failure.file)"
    // The part before the last slash is never shown, but must exist.
    let parts = path.split(separator: "/").suffix(2)
    let location = SourceLocation(
      fileID: parts.joined(separator: "/"), filePath: path, line: max(1, failure.line), column: 1)
    self.init(failure.text, at: location)
  }

  func record() {
    let comment = Comment(rawValue: text)
    if let error {
      Issue.record(error, comment, sourceLocation: sourceLocation)
    } else {
      Issue.record(comment, sourceLocation: sourceLocation)
    }
  }
}
