import SwiftSyntax
import SwiftSyntaxBuilder

extension ModelClass {
  /// The members from which the compiler can derive `Codable` although the properties are stored
  /// under other names.
  func codingMembers(isRoot: Bool) -> [DeclSyntax] {
    guard needsCodingKeys else { return [] }
    let cases = storedNames.map { stored, name in
      stored == name ? "  case \(name)" : "  case \(stored) = \(stringLiteral(plain(name)))"
    }
    if cases.isEmpty { return [] }
    return [
      """
      private enum CodingKeys: String, CodingKey {
      \(raw: cases.joined(separator: "\n"))
      }
      """
    ]
  }

  /// Whether the class needs `CodingKeys`: without them, the compiler uses the names of the
  /// storage.
  var needsCodingKeys: Bool {
    inherits("Codable", "Encodable", "Decodable") && !declaresCodingKeys
  }

  private var declaresCodingKeys: Bool {
    declaration.memberBlock.members.contains { member in
      member.decl.as(EnumDeclSyntax.self)?.name.text == "CodingKeys"
        || member.decl.as(TypeAliasDeclSyntax.self)?.name.text == "CodingKeys"
    }
  }

  /// The stored properties of an instance: the names of their storage, and the declared names.
  private var storedNames: [(stored: String, name: String)] {
    declaration.memberBlock.members.flatMap { member -> [(stored: String, name: String)] in
      guard let variable = member.decl.as(VariableDeclSyntax.self), variable.isStoredInInstance,
        variable.attributes.making == nil, variable.attributes.relation == nil,
        variable.attributes.named("Lazy") == nil
      else { return [] }
      let isMoved = slot(of: variable) != nil
      return variable.bindings.compactMap { binding in
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
          return nil
        }
        return (isMoved ? storageName(of: name) : name.text, name.text)
      }
    }
  }

  private func plain(_ name: String) -> String { name.filter { $0 != "`" } }
}

/// The name of the storage of an observed property.
func storageName(of name: TokenSyntax) -> String {
  let plain = "_" + plainName(name)
  // A raw identifier needs its backticks.
  return plain.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? plain : "`\(plain)`"
}
