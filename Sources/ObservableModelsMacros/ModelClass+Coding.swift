import SwiftSyntax
import SwiftSyntaxBuilder

extension ModelClass {
  /// The members from which the compiler can derive `Codable` although the properties are stored
  /// under other names, and the initializer that decodes into constant collections.
  func codingMembers(isRoot: Bool) -> [DeclSyntax] {
    let keys = needsCodingKeys && !storedProperties.isEmpty ? [codingKeys] : []
    return keys + decodingInitializers(isRoot: isRoot)
  }

  /// Whether the class needs `CodingKeys`: without them, the compiler uses the names of the
  /// storage.
  var needsCodingKeys: Bool {
    inherits("Codable", "Encodable", "Decodable") && !declaresCodingKeys
  }

  private var codingKeys: DeclSyntax {
    let cases = storedProperties.map { property in
      property.stored == property.name
        ? "  case \(property.name)"
        : "  case \(property.stored) = \(stringLiteral(plain(property.name)))"
    }
    return """
      private enum CodingKeys: String, CodingKey {
      \(raw: cases.joined(separator: "\n"))
      }
      """
  }

  /// The initializers of a class with constants that have contents already; none if the compiler
  /// can derive `init(from:)`.
  ///
  /// The compiler leaves such constants out, also collections, whose contents can change.
  private func decodingInitializers(isRoot: Bool) -> [DeclSyntax] {
    guard inherits("Codable", "Decodable"), !declaresDecoding, let keys = codedNames,
      storedProperties.contains(where: { $0.isFilled && keys.contains($0.stored) })
    else { return [] }
    let lines = storedProperties.filter { keys.contains($0.stored) }.map { property in
      property.isFixed
        ? "  try values.fill(self.\(property.stored), .\(property.stored))"
        : "  self.\(property.stored) = try values.value(.\(property.stored))"
    }
    let decoding: DeclSyntax = """
      \(raw: access == "open " ? "public " : access)\(raw: isFinal ? "" : "required ")\
      init(from decoder: any Decoder) throws {
        let values = try ObservableModels.ModelDecoding(decoder, CodingKeys.self)
      \(raw: lines.joined(separator: "\n"))
      }
      """
    // The compiler gives a class without initializers `init()`, but not beside the one above.
    return isRecord || declaresInitializer
      ? [decoding] : [decoding, isRoot ? "init() {}" : "override init() {}"]
  }

  private var declaresInitializer: Bool {
    declaration.memberBlock.members.contains { member in
      member.decl.as(InitializerDeclSyntax.self).map { !$0.modifiers.has(.convenience) } ?? false
    }
  }

  private var declaresDecoding: Bool {
    declaration.memberBlock.members.contains { member in
      member.decl.as(InitializerDeclSyntax.self)?.signature.parameterClause.parameters.first?
        .firstName.text == "from"
    }
  }

  /// The stored names that the keys of the class contain; nil if the class names its keys by an
  /// alias.
  private var codedNames: [String]? {
    guard declaresCodingKeys else { return storedProperties.map(\.stored) }
    let keys = declaration.memberBlock.members.lazy.compactMap { $0.decl.as(EnumDeclSyntax.self) }
      .first { $0.name.text == "CodingKeys" }
    return keys?.memberBlock.members.flatMap { member in
      member.decl.as(EnumCaseDeclSyntax.self)?.elements.map(\.name.text) ?? []
    }
  }

  private var declaresCodingKeys: Bool {
    declaration.memberBlock.members.contains { member in
      member.decl.as(EnumDeclSyntax.self)?.name.text == "CodingKeys"
        || member.decl.as(TypeAliasDeclSyntax.self)?.name.text == "CodingKeys"
    }
  }

  /// A stored property of an instance.
  private struct StoredProperty {
    /// The name of its storage.
    let stored: String
    /// The declared name.
    let name: String
    /// Whether it is a constant that has a value before the initializer runs.
    let isFixed: Bool
    /// Whether it is fixed, and its value may have contents.
    let isFilled: Bool
  }

  private var storedProperties: [StoredProperty] {
    declaration.memberBlock.members.flatMap { member -> [StoredProperty] in
      guard let variable = member.decl.as(VariableDeclSyntax.self), variable.isStoredInInstance,
        variable.attributes.making == nil, variable.attributes.relation == nil,
        variable.attributes.named("Lazy") == nil
      else { return [] }
      let isMoved = slot(of: variable) != nil
      return variable.bindings.compactMap { binding in
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
          return nil
        }
        let value = variable.isConstant ? binding.initializer?.value : nil
        return StoredProperty(
          stored: isMoved ? storageName(of: name) : name.text, name: name.text,
          isFixed: value != nil, isFilled: value.map { !$0.isScalar } ?? false)
      }
    }
  }

  private func plain(_ name: String) -> String { name.filter { $0 != "`" } }
}

extension ExprSyntax {
  /// Whether it is a literal of a number, a text or a boolean.
  fileprivate var isScalar: Bool {
    [.integerLiteralExpr, .floatLiteralExpr, .stringLiteralExpr, .booleanLiteralExpr]
      .contains(kind)
  }
}

/// The name of the storage of an observed property.
func storageName(of name: TokenSyntax) -> String {
  let plain = "_" + plainName(name)
  // A raw identifier needs its backticks.
  return plain.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? plain : "`\(plain)`"
}
