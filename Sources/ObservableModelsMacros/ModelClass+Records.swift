import SwiftSyntax
import SwiftSyntaxBuilder

extension ModelClass {
  /// Whether its objects are rows of a table.
  var isRecord: Bool { inherits("ObservableRecord") }

  /// The additional members of a record.
  var recordMembers: [DeclSyntax] {
    if !isRecord { return [] }
    return [
      "private let recordHold = ObservableRecords.RecordHold()",
      """
      \(raw: closedRecordAccess)var recordState: ObservableRecords.RecordState {
        recordHold.state
      }
      """,
      schema, rowInitializer,
    ] + memberwiseInitializer
  }

  private var closedRecordAccess: String { access == "open " ? "public " : access }

  /// A stored property that is a column of the table.
  struct Column {
    let name: String
    let spelling: String
    let slot: Int
    let isConstant: Bool
    let variable: VariableDeclSyntax
  }

  /// The stored properties that are columns, in the order of their slots.
  var columns: [Column] {
    declaration.memberBlock.variables.compactMap { variable in
      guard let member = member(of: variable), case .stored(let isConstant) = member.kind,
        let slot = members.firstIndex(where: { $0.name == member.name }),
        !isConstant || variable.onlyBinding?.binding.initializer == nil
      else { return nil }
      return Column(
        name: member.name, spelling: member.spelling, slot: slot, isConstant: isConstant,
        variable: variable)
    }
  }

  private var schema: DeclSyntax {
    var entries = columns.map { column in
      let name = stringLiteral(column.name)
      let setter = column.isConstant ? "" : ", set: { $0.\(column.spelling) = $1 }"
      return ".column(\(name), \(column.slot), get: { $0.\(column.spelling) }\(setter))"
    }
    for (slot, member) in members.enumerated() {
      switch member.kind {
      case .stored: continue
      case .relation(let arguments, let type):
        entries.append(arguments.schemaEntry(member.name, slot, type))
      case .lazy(let arguments, _):
        let name = stringLiteral(member.name)
        if isStoredColumn(member) {
          entries.append(".stored(\(name), \(slot), { $0.$\(member.spelling) })")
        }
        let paths = arguments.paths.map(\.trimmedDescription).joined(separator: ", ")
        if arguments.isComputed, !paths.isEmpty {
          entries.append(".computed(\(name), [\(paths)])")
        }
      }
    }
    return """
      \(raw: access)static let recordSchema = ObservableRecords.RecordSchema(
        for: \(raw: name).self, [
      \(raw: entries.map { "  \($0)," }.joined(separator: "\n"))
        ])
      """
  }

  /// Whether a computed property is also a column.
  func isStoredColumn(_ member: ModelMember) -> Bool {
    declaration.memberBlock.variables.contains { variable in
      self.member(of: variable)?.name == member.name && variable.attributes.named("Stored") != nil
    }
  }

  private var rowInitializer: DeclSyntax {
    var lines = columns.enumerated().map { place, column in
      let target = column.isConstant ? "self.\(column.spelling)" : storageName(column.spelling)
      let value = column.variable.onlyBinding?.binding.initializer?.value.trimmedDescription
      let standIn = value.map { ", orIfNew: \($0)" } ?? ""
      return "  \(target) = try row.value(\(stringLiteral(column.name)), \(place)\(standIn))"
    }
    if members.contains(where: isStoredColumn) { lines.append("  row.keepStored(in: recordState)") }
    return """
      \(raw: closedRecordAccess)init(row: GRDB.Row) throws {
        let row = ObservableRecords.RecordRow(row, of: \(raw: name).self)
      \(raw: lines.joined(separator: "\n"))
      }
      """
  }

  private func storageName(_ spelling: String) -> String {
    "self._" + spelling.filter { $0 != "`" }
  }

  /// The initializer for new rows, if the class has none.
  ///
  /// It has one parameter for each column with a written type.
  private var memberwiseInitializer: [DeclSyntax] {
    let hasOwn = declaration.memberBlock.members.contains { $0.decl.is(InitializerDeclSyntax.self) }
    if hasOwn { return [] }
    let typed = columns.compactMap { column -> (column: Column, parameter: String)? in
      guard let binding = column.variable.onlyBinding?.binding,
        let type = binding.typeAnnotation?.type
      else { return nil }
      let value =
        binding.initializer.map { " = \($0.value.trimmedDescription)" }
        ?? (type.isOptional ? " = nil" : "")
      return (column, "\(column.spelling): \(type.trimmedDescription)\(value)")
    }
    let lines = typed.map { column, _ in
      let target = column.isConstant ? "self.\(column.spelling)" : storageName(column.spelling)
      return "  \(target) = \(column.spelling)"
    }
    return [
      """
      \(raw: closedRecordAccess)init(
        \(raw: typed.map(\.parameter).joined(separator: ",\n  "))
      ) {
      \(raw: lines.joined(separator: "\n"))
      }
      """
    ]
  }
}
