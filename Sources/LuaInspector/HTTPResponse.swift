/// An answer, after which the connection ends.
struct HTTPResponse {
  var status = 200
  var type = "text/plain; charset=utf-8"
  /// The Content-Security-Policy of the answer.
  var policy = Self.strictPolicy

  private static let strictPolicy = "default-src 'none'; frame-ancestors 'none'"
  var body: [UInt8]

  init(_ refusal: HTTPRefusal) {
    status = refusal.status
    body = Array(refusal.text.utf8)
  }

  init(text: String) { body = Array(text.utf8) }

  init(json: String) {
    body = Array(json.utf8)
    type = "application/json"
  }

  init(page: [UInt8], policy: String) {
    (body, self.policy) = (page, policy)
    type = "text/html; charset=utf-8"
  }

  /// The answer as it is sent.
  var bytes: [UInt8] {
    Array(Self.head(status, type, policy, "Content-Length: \(body.count)\r\n").utf8) + body
  }

  /// The head of an answer whose body is a stream of events.
  static var eventStream: String {
    head(200, "text/event-stream", strictPolicy, "")
  }

  private static func head(
    _ status: Int, _ type: String, _ policy: String, _ length: String
  ) -> String {
    "HTTP/1.1 \(status) \(reasons[status] ?? "Error")\r\nContent-Type: \(type)\r\n\(length)"
      + "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
      + "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
      + "Content-Security-Policy: \(policy)\r\n"
      + (status == 405 ? "Allow: GET, POST\r\n" : "")
      + (status == 401 ? "WWW-Authenticate: Bearer\r\n" : "") + "\r\n"
  }

  private static let reasons = [
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 408: "Request Timeout", 413: "Content Too Large",
    431: "Request Header Fields Too Large", 501: "Not Implemented", 503: "Service Unavailable",
    505: "HTTP Version Not Supported",
  ]
}
