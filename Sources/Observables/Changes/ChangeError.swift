/// The error when a change does not fit the current state; no change was applied (X3).
public struct ChangeError: Error {
  /// The index of the change, counted from 0.
  public let index: Int
  /// The path of the change.
  public let path: [DeepChange.Key]
  /// The kind of the change.
  public let kind: DeepChange.Kind
  /// The reason why it does not fit.
  public let reason: String
}

extension ChangeError: CustomStringConvertible {
  /// The sentence to show to the user.
  public var description: String {
    let text = path.map(\.description).joined(separator: ".")
    return "change \(index + 1) (\(kind.rawValue) \(text)) does not fit: \(reason)"
  }
}
