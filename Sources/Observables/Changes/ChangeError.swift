/// A change does not fit what is there, and none was applied (X3).
public struct ChangeError: Error {
  /// Which of the changes it is, from 0 on.
  public let index: Int
  /// The path of the change.
  public let path: [DeepChange.Key]
  /// What the change does.
  public let kind: DeepChange.Kind
  /// Why it does not fit.
  public let reason: String
}

extension ChangeError: CustomStringConvertible {
  /// The sentence that a user sees.
  public var description: String {
    let text = path.map(\.description).joined(separator: ".")
    return "change \(index + 1) (\(kind.rawValue) \(text)) does not fit: \(reason)"
  }
}
