internal import CReport

/// The page that shows recordings, with the nonce that its scripts need to run.
///
/// No text of the program can know the nonce, so none becomes a script.
package struct ReportPage {
  /// The page, with the mark `<!-- data -->` where a recording belongs.
  package private(set) var bytes: [UInt8]
  /// The Content-Security-Policy for the header of an answer.
  ///
  /// It is the policy in the page's head and `frame-ancestors`, which works only in a header.
  package let policy: String

  /// Makes the page; a page that `isLive` may send requests to its own server.
  package init(isLive: Bool) {
    let nonce = randomWord()
    let (tag, end) = ("<script nonce=\"\(nonce)\">\n", "</script>\n")
    let source = isLive ? "'self'" : "'none'"
    policy =
      "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; "
      + "img-src data:; connect-src \(source); base-uri 'none'; form-action 'none'; "
      + "frame-ancestors 'none'"
    bytes = Self.part(CREPORT_HTML)
    replace("SCRIPTS", by: Array("'nonce-\(nonce)'".utf8))
    replace("STYLE", by: Array("'nonce-\(nonce)'".utf8))
    replace("connect-src 'none'", by: Array("connect-src \(source)".utf8))
    replace(
      "<!-- style -->",
      by: Array("<style nonce=\"\(nonce)\">\n".utf8) + Self.part(CREPORT_STYLE)
        + Array("</style>".utf8))
    replace(
      "<!-- script -->",
      by: Array(tag.utf8) + Self.part(CREPORT_GRAPHS) + Array((end + tag).utf8)
        + Self.part(CREPORT_SCRIPT) + Array(end.utf8))
  }

  /// Replaces the first mark.
  private mutating func replace(_ mark: String, by part: [UInt8]) {
    guard let range = bytes.firstRange(of: Array(mark.utf8)) else {
      fatalError("The page has no mark '\(mark)' (this is a bug in LuaInspector)")
    }
    bytes.replaceSubrange(range, with: part)
  }

  private static func part(_ part: creport_part) -> [UInt8] {
    var count = 0
    let bytes = creport_bytes(part, &count)
    return Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }
}
