/// A message from the process of a file to its parent, one line of text each.
enum TestRecord {
  case began(String)
  case failed(Int, String)
  case skipped(Int, String)
  case remarked(Int, String)
  case ended(Int)
  case notLoaded
  /// A Lua file that is loaded, and its stamp.
  case loads(String, stamp: String)
  case leftOut
  /// A file, and how often each of its lines ran that can run.
  case covered(String, [Int: Int])
  case complete

  var line: String {
    switch self {
    case .began(let sentence): "b\(Self.escaped(sentence))\n"
    case .failed(let number, let text): "f\(number) \(Self.escaped(text))\n"
    case .skipped(let number, let reason): "s\(number) \(Self.escaped(reason))\n"
    case .remarked(let number, let text): "m\(number) \(Self.escaped(text))\n"
    case .ended(let number): "e\(number)\n"
    case .notLoaded: "n\n"
    case .loads(let path, let stamp): "r\(stamp) \(Self.escaped(path))\n"
    case .leftOut: "l\n"
    case .covered(let path, let counts):
      "v\(counts.map { "\($0):\($1)" }.joined(separator: ",")) \(Self.escaped(path))\n"
    case .complete: "c\n"
    }
  }

  /// Parses a line without its line break; nil if it is not a record.
  init?(_ line: Substring) {
    let rest = line.dropFirst()
    switch line.first {
    case "b": self = .began(Self.unescaped(rest))
    case "f", "s", "m":
      guard let space = rest.firstIndex(of: " "), let number = Int(rest[..<space]) else {
        return nil
      }
      let text = Self.unescaped(rest[space...].dropFirst())
      self =
        switch line.first {
        case "f": .failed(number, text)
        case "s": .skipped(number, text)
        default: .remarked(number, text)
        }
    case "e":
      guard let number = Int(rest) else { return nil }
      self = .ended(number)
    case "n": self = .notLoaded
    case "r":
      guard let space = rest.firstIndex(of: " ") else { return nil }
      self = .loads(Self.unescaped(rest[space...].dropFirst()), stamp: String(rest[..<space]))
    case "l": self = .leftOut
    case "v":
      guard let space = rest.firstIndex(of: " ") else { return nil }
      let pairs = rest[..<space].split(separator: ",").map { $0.split(separator: ":") }
      let counts = pairs.compactMap { pair in
        Int(pair[0]).flatMap { line in Int(pair[1]).map { (line, $0) } }
      }
      let path = Self.unescaped(rest[space...].dropFirst())
      self = .covered(path, Dictionary(uniqueKeysWithValues: counts))
    case "c": self = .complete
    default: return nil
    }
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func unescaped(_ text: Substring) -> String {
    var result = String.UnicodeScalarView()
    var isEscape = false
    for scalar in text.unicodeScalars {
      if isEscape {
        result.append(scalar == "n" ? "\n" : scalar)
        isEscape = false
      } else if scalar == "\\" {
        isEscape = true
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }
}
