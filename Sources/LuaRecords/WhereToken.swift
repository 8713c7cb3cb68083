#if Records
  /// A token of a condition, with its position.
  struct WhereToken: Equatable {
    enum Kind: Equatable {
      case name(String)
      case keyword(Keyword)
      case integer(Int64)
      case number(Double)
      case text(String)
      /// A comparison, as written in SQL.
      case comparison(String)
      case parameter
      case open
      case close
      case comma
      case end
    }

    enum Keyword: String, CaseIterable {
      case and, or, not, `in`, like, between, `is`, null, `true`, `false`, asc, desc
    }

    let kind: Kind
    /// The index of the first character, from 1.
    let position: Int
    /// The token as written.
    let text: String
  }

  /// An error in the text of a condition, with its position.
  struct WhereError: Error, CustomStringConvertible {
    let option: String
    let position: Int
    let detail: String

    var description: String { "\(option), at \(position): \(detail)" }
  }

  /// Splits the text of a condition.
  struct WhereTokens {
    private let characters: [Character]
    private let option: String
    private var place = 0

    private init(_ text: String, _ option: String) {
      (characters, self.option) = (Array(text), option)
    }

    /// Splits a text into tokens; `option` is its name in errors.
    static func split(_ text: String, as option: String) throws(WhereError) -> [WhereToken] {
      var tokens = WhereTokens(text, option)
      var all: [WhereToken] = []
      while let token = try tokens.next() { all.append(token) }
      all.append(WhereToken(kind: .end, position: tokens.characters.count + 1, text: "the end"))
      return all
    }

    private mutating func next() throws(WhereError) -> WhereToken? {
      while place < characters.count, characters[place].isWhitespace { place += 1 }
      guard place < characters.count else { return nil }
      let start = place
      let kind = try kind(characters[place])
      return WhereToken(kind: kind, position: start + 1, text: String(characters[start..<place]))
    }

    private mutating func kind(_ first: Character) throws(WhereError) -> WhereToken.Kind {
      if first.isLetter || first == "_" { return word() }
      if first.isASCII, first.isNumber { return try number() }
      if first == "'" || first == "\"" { return try quoted(first) }
      place += 1
      switch first {
      case "?": return .parameter
      case "(": return .open
      case ")": return .close
      case ",": return .comma
      case "=":
        _ = take("=")
        return .comparison("=")
      case "!", "~":
        if take("=") { return .comparison("<>") }
      case "<": return .comparison(take("=") ? "<=" : take(">") ? "<>" : "<")
      case ">": return .comparison(take("=") ? ">=" : ">")
      case "-":
        if place < characters.count, characters[place].isASCII, characters[place].isNumber {
          switch try number() {
          case .integer(let number): return .integer(-number)
          case .number(let number): return .number(-number)
          default: break
          }
        }
      default: break
      }
      throw WhereError(
        option: option, position: place,
        detail:
          "'\(first)' has no meaning here; columns, '?', literals and comparisons are expected")
    }

    private mutating func take(_ character: Character) -> Bool {
      guard place < characters.count, characters[place] == character else { return false }
      place += 1
      return true
    }

    private mutating func word() -> WhereToken.Kind {
      let start = place
      while place < characters.count,
        characters[place].isLetter || characters[place].isNumber || characters[place] == "_"
      {
        place += 1
      }
      let text = String(characters[start..<place])
      return WhereToken.Keyword(rawValue: text.lowercased()).map(WhereToken.Kind.keyword)
        ?? .name(text)
    }

    private mutating func number() throws(WhereError) -> WhereToken.Kind {
      let start = place
      var isInteger = true
      while place < characters.count {
        let character = characters[place]
        let isExponent =
          (character == "-" || character == "+") && "eE".contains(characters[place - 1])
        guard character.isLetter || character.isNumber || character == "." || isExponent else {
          break
        }
        if !(character.isASCII && character.isNumber) { isInteger = false }
        place += 1
      }
      let text = String(characters[start..<place])
      if isInteger, let number = Int64(text) { return .integer(number) }
      let isPlain = text.allSatisfy { "0123456789.eE+-".contains($0) }
      if isPlain, let number = Double(text), number.isFinite { return .number(number) }
      throw WhereError(option: option, position: start + 1, detail: "'\(text)' is not a number")
    }

    private mutating func quoted(_ quote: Character) throws(WhereError) -> WhereToken.Kind {
      let start = place
      place += 1
      var text = ""
      while place < characters.count {
        let character = characters[place]
        place += 1
        if character != quote {
          text.append(character)
        } else if take(quote) {
          text.append(quote)
        } else if text.utf8.contains(0) {
          throw WhereError(
            option: option, position: start + 1,
            detail: "the text has a zero byte, which ends a text in the database")
        } else {
          return .text(text)
        }
      }
      throw WhereError(
        option: option, position: start + 1, detail: "the text here has no closing quote")
    }
  }
#endif
