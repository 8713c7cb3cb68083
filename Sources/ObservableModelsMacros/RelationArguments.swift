import SwiftSyntax
import SwiftSyntaxBuilder

/// The arguments of `@HasMany`, `@HasOne` or `@BelongsTo`.
struct RelationArguments {
  enum Kind: String {
    case many = "HasMany"
    case one = "HasOne"
    case reference = "BelongsTo"
  }

  let kind: Kind
  /// The key path to the column with the reference.
  let keyPath: ExprSyntax?
  /// The class of the column, as written in the key path.
  let root: String?
  /// The name of the column.
  let column: String?

  init(_ attribute: AttributeSyntax) {
    kind = Kind(rawValue: attribute.shortName) ?? .many
    keyPath = attribute.list.first?.expression.trimmed
    let path = keyPath?.as(KeyPathExprSyntax.self)
    root = path?.root?.trimmedDescription
    let components = path.map(\.components).map(Array.init) ?? []
    if components.count == 1,
      case .property(let property)? = components.first.map(\.component)
    {
      column = plainName(property.declName.baseName)
    } else {
      column = nil
    }
  }

  /// The wrapper that loads the rows.
  var wrapper: AttributeSyntax {
    kind == .reference
      ? "@ObservableRecords.Referenced(\(raw: stringLiteral(column ?? "")))"
      : "@ObservableRecords.Related"
  }

  /// The entry in the list of properties.
  func entry(
    _ name: String, _ spelling: String, _ type: TypeSyntax, isReadOnly: Bool, in model: ModelClass
  ) -> String {
    let from = kind == .reference ? ", from: [\(stringLiteral(column ?? ""))]" : ""
    let load =
      kind == .many
      ? "try model.recordState.loadMany(\(stringLiteral(name)), of: model)"
      : "try model.recordState.loadOne(\(stringLiteral(name)), of: model)"
    let setter =
      kind != .reference || isReadOnly
      ? ""
      : ".settable { (model: \(model.name), row: \(type)) in model.\(spelling) = row }"
    return """
      Observables.Property(\(stringLiteral(name)), lazy: { $0.$\(spelling) }\(from), \
      isReadOnly: true, get: { (model: \(model.name)) -> \(type) in \(load) })\(setter)
      """
  }

  /// The entry in the list of columns and relations.
  func schemaEntry(_ name: String, _ slot: Int, _ type: TypeSyntax) -> String {
    let (text, column) = (stringLiteral(name), stringLiteral(column ?? ""))
    switch kind {
    case .many, .one:
      let label = kind == .many ? "hasMany" : "hasOne"
      return ".\(label)(\(text), \(slot), \(root ?? "Never").self, by: \(column))"
    case .reference:
      return ".belongsTo(\(text), \(slot), \(type.wrappedType).self, by: \(column))"
    }
  }
}

extension AttributeListSyntax {
  /// The attribute that makes a property a relation to other rows.
  var relation: AttributeSyntax? { named("HasMany") ?? named("HasOne") ?? named("BelongsTo") }
}
