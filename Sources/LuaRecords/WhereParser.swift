#if Records
  internal import Observables
  internal import ObservableRecords

  /// A condition in SQL; its values are arguments, so that no text of a script becomes SQL.
  struct WhereClause: Equatable {
    var sql = ""
    var arguments: [DatabaseValue] = []
  }

  /// Reads conditions of scripts: columns of one class, `?`, literals, comparisons, `and`, `or`,
  /// `not`, `in`, `like`, `between`, `is null`, and parentheses.
  struct WhereParser {
    private let columns: [String]
    private let className: String
    private let tokens: [WhereToken]
    private let values: [DatabaseValue]
    private let option: String
    private var place = 0
    private var parameters = 0
    private var depth = 0
    private var clause = WhereClause()

    /// The maximum nesting of parentheses and `not`.
    static let maximumDepth = 100

    private init(
      _ text: String, _ values: [DatabaseValue], as option: String, columns: [String],
      of className: String
    ) throws(WhereError) {
      (self.columns, self.className, self.values) = (columns, className, values)
      self.option = option
      tokens = try WhereTokens.split(text, as: option)
    }

    /// Parses a condition, with the values of its parameters.
    static func condition(
      _ text: String, _ values: [DatabaseValue], columns: [String], of className: String
    ) throws(WhereError) -> WhereClause {
      var parser = try WhereParser(text, values, as: "where", columns: columns, of: className)
      try parser.disjunction()
      guard parser.token.kind == .end else {
        throw parser.error("'and', 'or' or the end was expected, not \(parser.given)")
      }
      if parser.parameters != values.count {
        throw WhereError(
          option: "where", position: parser.token.position,
          detail: "it has \(parser.parameters) '?', and args has \(values.count) value"
            + (values.count == 1 ? "" : "s"))
      }
      return parser.clause
    }

    /// Parses an order: columns with `asc` or `desc`.
    static func order(
      _ text: String, columns: [String], of className: String
    ) throws(WhereError) -> String {
      var parser = try WhereParser(text, [], as: "order", columns: columns, of: className)
      repeat {
        guard case .name(let name) = parser.token.kind else {
          throw parser.error("a column was expected, not \(parser.given)")
        }
        try parser.column(name)
        if parser.accept(.desc) {
          parser.emit("DESC")
        } else {
          _ = parser.accept(.asc)
        }
        guard parser.token.kind == .comma else { break }
        parser.place += 1
        parser.emit(",")
      } while true
      guard parser.token.kind == .end else {
        throw parser.error("',', 'asc', 'desc' or the end was expected, not \(parser.given)")
      }
      return parser.clause.sql
    }

    // MARK: Tokens

    private var token: WhereToken { tokens[place] }
    private var given: String {
      token.kind == .end ? "the end" : "'\(token.text)'"
    }

    private func error(_ detail: String) -> WhereError {
      WhereError(option: option, position: token.position, detail: detail)
    }

    private mutating func accept(_ keyword: WhereToken.Keyword) -> Bool {
      guard token.kind == .keyword(keyword) else { return false }
      place += 1
      return true
    }

    private mutating func expect(_ kind: WhereToken.Kind, _ text: String) throws(WhereError) {
      guard token.kind == kind else { throw error("\(text) was expected, not \(given)") }
      place += 1
    }

    private mutating func emit(_ sql: String) {
      clause.sql += clause.sql.isEmpty ? sql : " " + sql
    }

    private mutating func emit(value: DatabaseValue) {
      emit("?")
      clause.arguments.append(value)
    }

    private mutating func nest(_ body: (inout WhereParser) throws(WhereError) -> Void)
      throws(WhereError)
    {
      guard depth < WhereParser.maximumDepth else {
        throw error("it is nested more than \(WhereParser.maximumDepth) levels deep")
      }
      depth += 1
      defer { depth -= 1 }
      try body(&self)
    }

    // MARK: Grammar

    private mutating func disjunction() throws(WhereError) {
      try conjunction()
      while accept(.or) {
        emit("OR")
        try conjunction()
      }
    }

    private mutating func conjunction() throws(WhereError) {
      try negation()
      while accept(.and) {
        emit("AND")
        try negation()
      }
    }

    private mutating func negation() throws(WhereError) {
      if accept(.not) {
        emit("NOT")
        return try nest { parser throws(WhereError) in try parser.negation() }
      }
      guard token.kind == .open else { return try predicate() }
      place += 1
      emit("(")
      try nest { parser throws(WhereError) in try parser.disjunction() }
      try expect(.close, "')'")
      emit(")")
    }

    private mutating func predicate() throws(WhereError) {
      let isColumn = if case .name = token.kind { true } else { false }
      try operand()
      switch token.kind {
      case .comparison(let comparison):
        place += 1
        emit(comparison)
        return try operand()
      case .keyword(.is):
        place += 1
        let isNegated = accept(.not)
        try expect(.keyword(.null), "'null'")
        return emit(isNegated ? "IS NOT NULL" : "IS NULL")
      default: break
      }
      let start = place
      let isNegated = accept(.not)
      if isNegated { emit("NOT") }
      if accept(.in) { return try list() }
      if accept(.like) {
        emit("LIKE")
        return try operand()
      }
      if accept(.between) {
        emit("BETWEEN")
        try operand()
        try expect(.keyword(.and), "'and'")
        emit("AND")
        return try operand()
      }
      // A column alone is a condition, by its truth value.
      if isColumn, !isNegated { return }
      place = start
      throw error("a comparison was expected, not \(given)")
    }

    private mutating func list() throws(WhereError) {
      emit("IN")
      try expect(.open, "'('")
      emit("(")
      if case .name(let name) = token.kind, name.lowercased() == "select" {
        throw error("a subquery is not allowed: the list has '?' and literals")
      }
      while true {
        try operand()
        if token.kind != .comma { break }
        place += 1
        emit(",")
      }
      try expect(.close, "')' or ','")
      emit(")")
    }

    private mutating func operand() throws(WhereError) {
      switch token.kind {
      case .name(let name): return try column(name)
      case .integer(let number): emit(value: number.databaseValue)
      case .number(let number): emit(value: number.databaseValue)
      case .text(let text): emit(value: text.databaseValue)
      case .keyword(.true): emit(value: true.databaseValue)
      case .keyword(.false): emit(value: false.databaseValue)
      case .keyword(.null):
        throw error("a comparison with null is never true; write 'is null'")
      case .parameter:
        guard parameters < values.count else {
          throw error(
            "this is '?' number \(parameters + 1), and args has \(values.count) value"
              + (values.count == 1 ? "" : "s"))
        }
        emit(value: values[parameters])
        parameters += 1
      case .keyword, .comparison, .open, .close, .comma, .end:
        throw error("a column, '?' or a literal was expected, not \(given)")
      }
      place += 1
    }

    private mutating func column(_ name: String) throws(WhereError) {
      if name.lowercased() == "select" { throw error("a subquery is not allowed") }
      if tokens[place + 1].kind == .open {
        throw error("'\(name)' cannot be called: functions are not allowed")
      }
      guard columns.contains(name) else {
        throw error(
          "\(className) has no column '\(name)'"
            + didYouMean(name, among: columns))
      }
      emit(name.quotedDatabaseIdentifier)
      place += 1
    }
  }
#endif
