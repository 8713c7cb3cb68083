import SwiftSyntax

/// Finds declarations that cannot work in a class of rows.
extension ModelChecks {
  func checkRecord() {
    for variable in model.declaration.memberBlock.variables {
      for name in ["HasMany", "HasOne", "BelongsTo", "Stored"] {
        guard let attribute = variable.attributes.named(name) else { continue }
        if model.isRecord { continue }
        context.diagnose(
          PlacedDiagnostic(
            "record", at: attribute,
            "'@\(name)' is for rows of a table: '\(model.name)' must declare ': ObservableRecord'"))
      }
    }
    if !model.isRecord { return }
    checkClass()
    for variable in model.declaration.memberBlock.variables {
      if let attribute = variable.attributes.relation { check(relation: variable, attribute) }
      if let attribute = variable.attributes.named("Stored") { check(derived: variable, attribute) }
      if variable.isStoredInInstance { check(valueOf: variable) }
    }
  }

  private func checkClass() {
    let name = model.declaration.name
    if !model.isFinal {
      context.diagnose(
        PlacedDiagnostic(
          "record-final", at: name,
          "a record must be a 'final class': each row of its table is an object of this class"))
    }
    if model.declaration.genericParameterClause != nil {
      context.diagnose(
        PlacedDiagnostic("record-generic", at: name, "a record has one table, and is not generic"))
    }
    if !isRoot {
      context.diagnose(
        PlacedDiagnostic("record-parent", at: name, "a record cannot inherit from a model"))
    }
    if model.options.isThreadSafe || model.mainActor != nil {
      context.diagnose(
        PlacedDiagnostic(
          "record-threads", at: name,
          "a record belongs to the thread of its store's loop: remove '.threadSafe' or "
            + "'@MainActor'"))
    }
    let namesKey = model.declaration.memberBlock.variables.contains {
      $0.isOfType && $0.onlyBinding.map { plainName($0.name) } == "primaryKeyName"
    }
    if !namesKey, !model.columns.contains(where: { $0.name == "id" }) {
      context.diagnose(
        PlacedDiagnostic(
          "record-key", at: name,
          "a record has a property for its primary key: 'var id: Int64?', or the property that "
            + "'static let primaryKeyName' names"))
    }
  }

  // MARK: Relations

  private func check(relation variable: VariableDeclSyntax, _ attribute: AttributeSyntax) {
    let arguments = RelationArguments(attribute)
    let label = "'@\(attribute.shortName)'"
    guard let (binding, name) = variable.onlyBinding, let type = binding.typeAnnotation?.type,
      !variable.isConstant, binding.initializer == nil, variable.isStoredInInstance
    else {
      context.diagnose(
        PlacedDiagnostic(
          "relation", at: variable.bindings,
          "\(label) is for one 'var' with a type, and without a value"))
      return
    }
    guard let column = arguments.column, let root = arguments.root else {
      context.diagnose(
        PlacedDiagnostic(
          "relation-path", at: attribute,
          "\(label) takes the key path of one column with its class, such as '\\Item.invoiceID'"))
      return
    }
    switch arguments.kind {
    case .many:
      let expected = "ObservableArray<\(root)>"
      let isArray = [expected, "Observables.\(expected)"].contains(type.trimmedDescription)
      if !isArray {
        context.diagnose(
          PlacedDiagnostic(
            "relation-type", at: type,
            "'\(plainName(name))' must be an '\(expected)': rows of \(root) refer to this one"))
      }
    case .one:
      if !type.isOptional || type.wrappedType.trimmedDescription != root {
        context.diagnose(
          PlacedDiagnostic(
            "relation-type", at: type,
            "'\(plainName(name))' must be a '\(root)?': it is nil if no row refers to this one"))
      }
    case .reference:
      if !type.isOptional {
        context.diagnose(
          PlacedDiagnostic(
            "relation-type", at: type,
            "'\(plainName(name))' must be a '\(type.trimmedDescription)?': the row may be deleted"))
      }
      let names = model.columns.map(\.name)
      if root != model.name || !names.contains(column) {
        let nearest = nearestName(to: column, among: names)
        context.diagnose(
          PlacedDiagnostic(
            "relation-column", at: attribute,
            "'@BelongsTo' takes the key path of a column of \(model.name) itself"
              + didYouMean(nearest.map { "\\\(model.name).\($0)" })))
      }
    }
  }

  // MARK: Columns

  private func check(derived variable: VariableDeclSyntax, _ attribute: AttributeSyntax) {
    guard let making = variable.attributes.making, making.shortName == "Computed" else {
      context.diagnose(
        PlacedDiagnostic(
          "stored", at: attribute, "'@Stored' is for properties that are '@Computed' from others"))
      return
    }
    let paths = LazyArguments(making).paths
    if paths.isEmpty {
      context.diagnose(
        PlacedDiagnostic(
          "stored-paths", at: making,
          "'@Stored' needs the key paths of the properties it is computed from: "
            + "'@Computed(\"items.@sum.price\")'"))
    }
    for path in paths {
      guard let text = path.literalText, let first = pathComponents(text).first else { continue }
      guard let member = model.members.first(where: { $0.name == first }) else {
        if first == "*" || first == "**" {
          context.diagnose(
            PlacedDiagnostic(
              "stored-dependency", at: path,
              "'@Stored' depends on named properties: '\(first)' matches any property"))
        }
        continue
      }
      if let reason = unfitness(of: member) {
        context.diagnose(
          PlacedDiagnostic(
            "stored-dependency", at: path,
            "'@Stored' is computed from columns, relations, and properties computed from those by "
              + "declared key paths; '\(first)' \(reason)"))
      }
    }
  }

  /// Why a stored value cannot depend on a property; nil where it can.
  private func unfitness(of member: ModelMember) -> String? {
    switch member.kind {
    case .relation: nil
    case .stored:
      model.columns.contains { $0.name == member.name } ? nil : "is not a column"
    case .lazy(let arguments, _):
      !arguments.isComputed
        ? "is a '@LazyProperty'"
        : arguments.paths.isEmpty ? "does not declare its key paths" : nil
    }
  }

  /// Reports a property that is not a column and gets no value when a row is read.
  private func check(valueOf variable: VariableDeclSyntax) {
    guard variable.attributes.making == nil, variable.attributes.relation == nil,
      let (binding, name) = variable.onlyBinding, binding.initializer == nil,
      !model.columns.contains(where: { $0.name == plainName(name) })
    else { return }
    if let type = binding.typeAnnotation?.type, type.isOptional, !variable.isConstant { return }
    if variable.foreignWrapper != nil { return }
    context.diagnose(
      PlacedDiagnostic(
        "record-value", at: name,
        "'\(plainName(name))' is not a column: it needs a value in its declaration, as rows do not "
          + "have it"))
  }
}
