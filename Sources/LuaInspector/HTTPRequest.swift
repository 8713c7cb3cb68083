/// A request that was received completely.
struct HTTPRequest {
  enum Method: String {
    case get = "GET"
    case post = "POST"
  }

  let method: Method
  /// The path, without escapes and query.
  let path: String
  let query: [String: String]
  /// The header fields, by their names in lower case.
  let fields: [String: String]
  let body: ArraySlice<UInt8>

  /// The host, which every request has.
  var host: String { fields["host"] ?? "" }
}

/// A request that is answered with a status other than 200.
struct HTTPRefusal: Error {
  let status: Int
  let text: String

  init(_ status: Int, _ text: String) { (self.status, self.text) = (status, text) }
}

/// Reads a request of HTTP/1.1 from bytes that anyone may have sent.
///
/// It accepts what browsers and `curl` send, and refuses everything else.
struct HTTPRequestReader {
  /// The bytes that a request may have.
  static let limit = 1 << 16

  private var bytes: [UInt8] = []
  /// The number of bytes that were searched for the end of the head.
  private var scanned = 0
  private var head: Head?

  /// Everything before the body.
  private struct Head {
    let method: HTTPRequest.Method
    let target: (path: String, query: [String: String])
    let fields: [String: String]
    let length: Int
    let bodyLength: Int
  }

  /// Takes more bytes, and returns the request once it is complete.
  ///
  /// - Throws: `HTTPRefusal` as soon as the request is wrong.
  mutating func take(_ received: some Sequence<UInt8>) throws(HTTPRefusal) -> HTTPRequest? {
    bytes.append(contentsOf: received)
    if head == nil { try readHead() }
    guard let head, bytes.count >= head.length + head.bodyLength else { return nil }
    return HTTPRequest(
      method: head.method, path: head.target.path, query: head.target.query, fields: head.fields,
      body: bytes[head.length..<head.length + head.bodyLength])
  }

  /// Reads the head if its end was received.
  private mutating func readHead() throws(HTTPRefusal) {
    let tooLong = HTTPRefusal(431, "the header is too long")
    var index = scanned
    while index < bytes.count {
      let byte = bytes[index]
      guard byte >= 0x20 && byte < 0x7f || [.cr, .lf, .tab].contains(byte) else {
        throw HTTPRefusal(400, "the header has bytes that are not ASCII text")
      }
      index += 1
      guard byte == .lf, bytes[..<index].suffix(4) == [.cr, .lf, .cr, .lf] else { continue }
      guard index <= Self.limit else { throw tooLong }
      head = try Self.head(bytes[..<(index - 4)], length: index)
      return
    }
    scanned = index
    if bytes.count > Self.limit { throw tooLong }
  }

  private static func head(_ text: ArraySlice<UInt8>, length: Int) throws(HTTPRefusal) -> Head {
    var lines = text.split(separator: .lf, omittingEmptySubsequences: false)
    for index in lines.indices {
      if index < lines.count - 1, lines[index].popLast() != .cr { throw malformed }
      if lines[index].contains(.cr) { throw malformed }
    }
    let first = lines.removeFirst().split(separator: .space, omittingEmptySubsequences: false)
    guard first.count == 3 else { throw malformed }
    try checkVersion(String(decoding: first[2], as: UTF8.self))
    let method = try method(String(decoding: first[0], as: UTF8.self))
    let target = try target(first[1])
    let fields = try fields(lines)
    guard fields["host"] != nil else { throw HTTPRefusal(400, "the request names no host") }
    return Head(
      method: method, target: target, fields: fields, length: length,
      bodyLength: try bodyLength(fields, method, upTo: limit - length))
  }

  private static var malformed: HTTPRefusal { HTTPRefusal(400, "this is no request of HTTP/1.1") }

  private static func checkVersion(_ version: String) throws(HTTPRefusal) {
    if version == "HTTP/1.1" { return }
    let digits = Array(version.utf8.dropFirst(5))
    guard version.hasPrefix("HTTP/"), digits.count == 3, digits[1] == UInt8(ascii: "."),
      isDigit(digits[0]), isDigit(digits[2])
    else { throw malformed }
    throw HTTPRefusal(505, "only HTTP/1.1 is supported")
  }

  private static func method(_ name: String) throws(HTTPRefusal) -> HTTPRequest.Method {
    if let method = HTTPRequest.Method(rawValue: name) { return method }
    let others = ["HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"]
    if others.contains(name) { throw HTTPRefusal(405, "the method is not allowed") }
    guard !name.isEmpty, name.utf8.allSatisfy(isOfToken) else { throw malformed }
    throw HTTPRefusal(501, "the method is unknown")
  }

  private static func fields(_ lines: [ArraySlice<UInt8>]) throws(HTTPRefusal) -> [String: String] {
    guard lines.count <= 100 else { throw HTTPRefusal(431, "the header has too many fields") }
    var fields: [String: String] = [:]
    for line in lines {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
        line[..<colon].allSatisfy(isOfToken)
      else { throw malformed }
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      let value = line[(colon + 1)...].drop { $0 == .space || $0 == .tab }
      let end = value.lastIndex { $0 != .space && $0 != .tab }.map { $0 + 1 } ?? value.startIndex
      if fields[name] != nil, decisive.contains(name) {
        throw HTTPRefusal(400, "the field '\(name)' occurs twice")
      }
      fields[name] = String(decoding: value[value.startIndex..<end], as: UTF8.self)
    }
    return fields
  }

  /// Fields that a request must not repeat.
  private static let decisive: Set = [
    "host", "content-length", "transfer-encoding", "authorization", "origin", "last-event-id",
  ]

  private static func bodyLength(
    _ fields: [String: String], _ method: HTTPRequest.Method, upTo most: Int
  ) throws(HTTPRefusal) -> Int {
    if fields["transfer-encoding"] != nil {
      throw HTTPRefusal(501, "a body must have a Content-Length")
    }
    guard let text = fields["content-length"] else {
      if method == .post { throw HTTPRefusal(400, "the request has no Content-Length") }
      return 0
    }
    guard !text.isEmpty, text.utf8.allSatisfy(isDigit) else { throw malformed }
    guard let length = Int(text), length <= most else {
      throw HTTPRefusal(413, "the body is too long")
    }
    return length
  }

  // MARK: The target

  private static func target(
    _ text: ArraySlice<UInt8>
  ) throws(HTTPRefusal) -> (path: String, query: [String: String]) {
    guard text.first == UInt8(ascii: "/"), !text.contains(UInt8(ascii: "#")) else {
      throw malformed
    }
    let parts = text.split(
      separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    var query: [String: String] = [:]
    for pair in parts.count < 2 ? [] : parts[1].split(separator: UInt8(ascii: "&")) {
      let sides = pair.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      query[try unescaped(sides[0])] = sides.count < 2 ? "" : try unescaped(sides[1])
    }
    return (try unescaped(parts[0]), query)
  }

  /// Replaces escapes such as %20.
  private static func unescaped(_ text: ArraySlice<UInt8>) throws(HTTPRefusal) -> String {
    let wrong = HTTPRefusal(400, "the address has an invalid escape")
    var (result, rest) = ([UInt8](), text)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        result.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(value(ofDigit:)),
        let low = rest.popFirst().flatMap(value(ofDigit:)), high + low > 0
      else { throw wrong }
      result.append(high << 4 | low)
    }
    guard let text = String(validating: result, as: UTF8.self) else { throw wrong }
    return text
  }

  private static func value(ofDigit byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Whether the byte can be part of a name.
  private static func isOfToken(_ byte: UInt8) -> Bool {
    byte > .space && byte < 0x7f && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
  }
}

extension UInt8 {
  fileprivate static let cr = UInt8(ascii: "\r")
  fileprivate static let lf = UInt8(ascii: "\n")
  fileprivate static let tab = UInt8(ascii: "\t")
  fileprivate static let space = UInt8(ascii: " ")
}
