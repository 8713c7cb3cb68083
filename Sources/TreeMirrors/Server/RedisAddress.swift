internal import Observables

/// Where a server is, and as whom to log in there.
package struct RedisAddress: Equatable {
  var host = "127.0.0.1"
  var port = 6379
  /// The path of a socket, instead of host and port.
  var path: String?
  var user: String?
  var password: String?
  var database = 0
  var isEncrypted = false
  /// Files for TLS.
  var authorities: String?
  var certificate: String?
  var key: String?

  /// Reads `redis://user:password@host:port/database`, with `rediss` for TLS, or
  /// `unix://user:password@/path?db=database`.
  ///
  /// - Throws: `MirrorError` that says what is expected.
  init(_ url: String) throws(MirrorError) {
    func refuse(_ reason: String) -> MirrorError {
      // A part of the address may be a part of the password.
      let reason = url.contains("@") && reason.contains("'") ? "a part of it is malformed" : reason
      return MirrorError(
        "'\(RedisAddress.withoutPassword(url))' is no address of a server: \(reason); expected "
          + "redis://user:password@host:port/database")
    }
    guard let scheme = RedisAddress.cut(url, at: "://") else { throw refuse("it has no scheme") }
    guard let kind = ["redis": 0, "rediss": 1, "unix": 2][scheme.before] else {
      throw refuse("'\(scheme.before)' is neither redis, rediss nor unix")
    }
    isEncrypted = kind == 1
    var rest = scheme.after
    if let query = RedisAddress.cut(rest, at: "?") {
      rest = query.before
      for option in query.after.split(separator: "&") {
        guard let pair = RedisAddress.cut(String(option), at: "=") else {
          throw refuse("'\(option)' is no option")
        }
        guard let value = RedisAddress.decoded(pair.after) else {
          throw refuse("'\(pair.after)' is badly encoded")
        }
        switch pair.before {
        case "db":
          guard let number = Int(value), number >= 0 else {
            throw refuse("'\(value)' is no number")
          }
          database = number
        case "cacert": authorities = value
        case "cert": certificate = value
        case "key": key = value
        default: throw refuse("there is no option '\(pair.before)'")
        }
      }
    }
    let pathAt = rest.firstIndex(of: "/") ?? rest.endIndex
    var authority = String(rest[..<pathAt])
    let tail = String(rest[pathAt...])
    if let at = authority.lastIndex(of: "@") {
      let login = String(authority[..<at])
      authority = String(authority[authority.index(after: at)...])
      let parts = RedisAddress.cut(login, at: ":") ?? (before: login, after: "")
      guard let user = RedisAddress.decoded(parts.before),
        let password = RedisAddress.decoded(parts.after)
      else { throw refuse("user or password are badly encoded") }
      if !user.isEmpty { self.user = user }
      if !password.isEmpty { self.password = password }
    }
    if kind == 2 {
      guard tail.count > 1, authority.isEmpty else {
        throw refuse("the path of a socket is missing")
      }
      path = tail
      return
    }
    var name = authority
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      name = String(authority[authority.index(after: authority.startIndex)..<end])
      authority = String(authority[authority.index(after: end)...])
    } else if let colon = authority.lastIndex(of: ":") {
      name = String(authority[..<colon])
      authority = String(authority[colon...])
    } else {
      authority = ""
    }
    if !authority.isEmpty {
      guard authority.hasPrefix(":"), let number = Int(authority.dropFirst()),
        (1...65535).contains(number)
      else {
        throw refuse("'\(authority.dropFirst())' is no port")
      }
      port = number
    }
    guard !name.isEmpty else { throw refuse("the host is missing") }
    host = name
    if tail.count > 1 {
      guard let number = Int(tail.dropFirst()), number >= 0 else {
        throw refuse("'\(tail.dropFirst())' is no number of a database")
      }
      database = number
    }
  }

  private static func cut(_ text: String, at separator: String) -> (before: String, after: String)?
  {
    var index = text.startIndex
    while index < text.endIndex {
      if text[index...].hasPrefix(separator) {
        let end = text.index(index, offsetBy: separator.count)
        return (String(text[..<index]), String(text[end...]))
      }
      index = text.index(after: index)
    }
    return nil
  }

  /// Replaces `%41` by the byte; nil for text that is not encoded so.
  private static func decoded(_ text: String) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.count == 2, digits.allSatisfy(\.isHexDigit),
        let value = UInt8(digits, radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The address for messages, which do not tell the password.
  static func withoutPassword(_ url: String) -> String {
    let scheme = cut(url, at: "://") ?? (before: "", after: url)
    guard let at = scheme.after.lastIndex(of: "@"),
      let login = cut(String(scheme.after[..<at]), at: ":")
    else { return url }
    let before = scheme.before.isEmpty ? "" : "\(scheme.before)://"
    return "\(before)\(login.before):…\(scheme.after[at...])"
  }

  /// A text of the server for messages: on one line, cut, and without the password, which a server
  /// may send back.
  func quoted(_ text: some Collection<UInt8>) -> String {
    let secret = Array((password ?? "").utf8)
    // A server may send back only the beginning of a password.
    let least = min(max(secret.count, 1), 8)
    var rest = Array(text.prefix(1000))[...]
    var shown: [UInt8] = []
    while let byte = rest.first {
      let same = zip(rest, secret).prefix { $0 == $1 }.count
      if same >= least {
        shown += Array("…".utf8)
        rest = rest.dropFirst(same)
      } else {
        shown.append(byte)
        rest.removeFirst()
      }
    }
    return String(decoding: shown.prefix(500), as: UTF8.self).printable
  }

  /// The server for messages.
  var name: String { path ?? (host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)") }
}
