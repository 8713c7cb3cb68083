/// The error for a malformed key path (P1), or for a component that a declared type doesn't have
/// (P9).
public struct PathError: Error, Equatable, Sendable {
  /// The kinds of errors.
  public enum Code: Sendable {
    /// The text has no components.
    case emptyPath
    /// Two dots in a row, or a dot at either end.
    case emptyComponent
    /// `#` is not followed by a whole number.
    case missingNumber
    /// The path ends within an escape.
    case danglingEscape
    /// The text has a meaning in other notations, but not here; `detail` suggests a correction.
    case misspelling
    /// The type declares its properties, and has none with this name.
    case unknownName
    /// The component cannot be observed here; `detail` says why.
    case unsupported
    /// The object there is observed by another loop, and only one loop can observe it.
    case otherLoop
    /// A model that several threads use is observed on a thread without a loop, or on a thread
    /// other than the given loop's.
    case noLoop
  }

  /// The kind of the error.
  public let code: Code
  /// The path as it was written; bytes that are not UTF-8 are replaced.
  public let path: String
  /// The position of the component with the error, counted from 1.
  public let component: Int
  /// The offset in the text at which that component starts, in bytes.
  public let offset: Int
  /// Details of the error, such as the most similar existing name.
  public let detail: String
  /// The name that an unknown one probably means.
  package let suggestion: String?

  package init(
    _ code: Code, path: String, component: Int, offset: Int = 0, detail: String = "",
    suggestion: String? = nil
  ) {
    self.code = code
    self.path = path
    self.component = component
    self.offset = offset
    self.detail = detail
    self.suggestion = suggestion
  }
}

extension PathError: CustomStringConvertible {
  /// The sentence to show to the user, with the path and a pointer to the component.
  public var description: String {
    switch code {
    case .emptyPath:
      "the key path is empty (a name, '*' or '#n' was expected)"
    case .emptyComponent:
      "empty component \(component) in key path '\(marked)'"
    case .missingNumber:
      "component \(component) of key path '\(marked)' needs a number after '#'"
    case .danglingEscape:
      "component \(component) of key path '\(marked)' ends in a single backslash (write '\\\\')"
    case .otherLoop where path.isEmpty:
      "the object is observed by another loop"
    case .otherLoop:
      "component \(component) of key path '\(path)': the object there is observed by another loop"
    case .noLoop:
      "the loop is not on this thread: observe the model via the loop's inbox, with 'on:'"
    case .misspelling:
      "component \(component) of key path '\(marked)': \(detail)"
    case .unknownName, .unsupported:
      "component \(component) of key path '\(path)': \(detail)"
    }
  }

  /// The path with `⟨here⟩` at the component, shortened around it.
  private var marked: String {
    let bytes = Array(path.utf8)
    let position = min(offset, bytes.count)
    let before = String(decoding: bytes[max(0, position - 40)..<position], as: UTF8.self)
    let after = String(
      decoding: bytes[position..<min(bytes.count, position + 40)], as: UTF8.self)
    return (position > 40 ? "…" : "") + before + "⟨here⟩" + after
      + (bytes.count > position + 40 ? "…" : "")
  }
}
