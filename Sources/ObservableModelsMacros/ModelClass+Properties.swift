import SwiftSyntax
import SwiftSyntaxBuilder

extension ModelClass {
  /// The observation, the slots and the list of properties.
  ///
  /// The slots of a class that inherits from `parent` follow the slots of `parent`.
  func propertyMembers(inheriting parent: String?, isGeneric: Bool) -> [DeclSyntax] {
    var result: [DeclSyntax] = []
    // The state of a record creates its observation on demand.
    if parent == nil, !isRecord {
      let options = options.isThreadSafe ? ".threadSafe" : ""
      result.append(
        "\(raw: closedAccess)let observation = Observables.ModelObservation(\(raw: options))")
    }
    result.append(firstSlot(behind: parent, isGeneric: isGeneric))
    let inheriting = parent.map { ", inheriting: \($0).properties" } ?? ""
    let list = """
      (for: \(name).self\(inheriting)) {
      \(members.map { "  " + $0.entry(in: self) }.joined(separator: "\n"))
      }
      """
    let type = "Observables.ModelProperties"
    if isGeneric {
      // A generic class cannot store a static list.
      result.append(
        """
        \(raw: head(parent))var properties: \(raw: type) {
          \(raw: type).shared\(raw: indented(list, by: 2))
        }
        """)
    } else if isFinal, parent == nil {
      result.append("\(raw: access)static let properties: \(raw: type) = \(raw: type)\(raw: list)")
    } else {
      result.append(
        """
        \(raw: head(parent))var properties: \(raw: type) {
          modelProperties
        }
        """)
      result.append("private static let modelProperties: \(raw: type) = \(raw: type)\(raw: list)")
    }
    return result
  }

  /// The property that notifies the toolchain's Observation.
  var registrar: DeclSyntax {
    "\(raw: closedAccess)let modelRegistrar = ObservableModels.ModelRegistrar()"
  }

  /// The access level of members that other code can see but not override.
  private var closedAccess: String { access == "open " ? "public " : access }

  /// The first slot of this class.
  private func firstSlot(behind parent: String?, isGeneric: Bool) -> DeclSyntax {
    guard let parent else { return "private static var firstModelSlot: Int { 0 }" }
    let count = "\(parent).properties.names.count"
    return isGeneric
      ? "private static var firstModelSlot: Int { \(raw: count) }"
      : "private static let firstModelSlot = \(raw: count)"
  }

  private func head(_ parent: String?) -> String {
    if parent != nil { return "override \(access)class " }
    return access + (isFinal ? "static " : "class ")
  }
}

/// Moves every line but the first to the right.
func indented(_ text: String, by count: Int) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false)
    .joined(separator: "\n" + String(repeating: " ", count: count))
}
