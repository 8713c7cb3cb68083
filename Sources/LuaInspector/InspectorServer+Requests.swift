internal import Lua
internal import LuaObservables
internal import Observables

/// The answers to requests that passed the checks.
extension InspectorServer {
  func response(to request: HTTPRequest) throws(HTTPRefusal) -> HTTPResponse {
    guard let host, !host.isClosed else { throw HTTPRefusal(503, "the program is ending") }
    switch request.path {
    case "/info":
      try need(.get, request)
      return HTTPResponse(json: "{\"write\":\(allowsWrites)}")
    case "/roots":
      try need(.get, request)
      return HTTPResponse(json: roots.json(host))
    case "/why":
      return try text(about: "watcher", of: request, host.why)
    case "/whynot":
      return try text(about: "watcher", of: request, host.whyNot)
    case "/describe":
      return try text(about: "object", of: request, host.describe)
    case "/set":
      try need(.post, request)
      return try set(request, host)
    case "/run":
      try need(.post, request)
      return try run(request, host)
    case "/break":
      try need(.post, request)
      return try setBreak(request, host)
    case "/", "/events":
      throw HTTPRefusal(405, "the method is not allowed")
    default:
      throw HTTPRefusal(404, "there is no such page")
    }
  }

  private func need(_ method: HTTPRequest.Method, _ request: HTTPRequest) throws(HTTPRefusal) {
    guard request.method == method else { throw HTTPRefusal(405, "the method is not allowed") }
  }

  /// A text about the watcher or object whose number the query has.
  private func text(
    about kind: String, of request: HTTPRequest, _ text: (UInt64) -> String?
  ) throws(HTTPRefusal) -> HTTPResponse {
    try need(.get, request)
    guard let number = request.query[kind].flatMap({ UInt64($0) }) else {
      throw HTTPRefusal(400, "the number of the \(kind) is missing")
    }
    guard let found = text(number) else {
      throw HTTPRefusal(404, "there is no \(kind) with the number \(number)")
    }
    return HTTPResponse(text: found)
  }

  /// Records the calls that lead to writes of a key, or of any key if it is null.
  private func setBreak(
    _ request: HTTPRequest, _ host: LuaHost
  ) throws(HTTPRefusal) -> HTTPResponse {
    guard let values = JSONScalars.read(request.body),
      case .integer(let number)? = values["object"], number > 0, let key = values["key"],
      case .boolean(let isOn) = values["on"] ?? .boolean(true)
    else { throw HTTPRefusal(400, "an object with 'object', 'key' and 'on' is expected") }
    guard host.isObserved(UInt64(number)) else {
      throw HTTPRefusal(404, "there is no object with the number \(number)")
    }
    let json: String?
    switch key {
    case .nil: json = nil
    case .integer(let position): json = "\(position)"
    case .string(let name): json = jsonText(name.description)
    default: throw HTTPRefusal(400, "the key is a text, an integer, or null for all keys")
    }
    recorder.setBreak(isOn, on: json, of: UInt64(number))
    let what = json.map { "writes of \($0)" } ?? "all writes"
    return HTTPResponse(
      text: isOn ? "\(what) are shown with their calls" : "\(what) are no longer shown with calls")
  }

  private func set(_ request: HTTPRequest, _ host: LuaHost) throws(HTTPRefusal) -> HTTPResponse {
    try beginWrite()
    guard let values = JSONScalars.read(request.body),
      case .integer(let object)? = values["object"], object > 0,
      let key = values["key"], let value = values["value"]
    else {
      throw HTTPRefusal(
        400, "an object with 'object', 'key' and 'value' is expected, each no list or object")
    }
    do throws(LuaError) {
      try host.assign(value, to: key, of: UInt64(object))
      return HTTPResponse(text: "done")
    } catch {
      throw HTTPRefusal(400, error.message)
    }
  }

  private func run(_ request: HTTPRequest, _ host: LuaHost) throws(HTTPRefusal) -> HTTPResponse {
    try beginWrite()
    guard case .string(let code)? = JSONScalars.read(request.body)?["code"] else {
      throw HTTPRefusal(400, "an object with the text 'code' is expected")
    }
    do throws(LuaError) {
      return HTTPResponse(text: try host.evaluate(String(decoding: code.bytes, as: UTF8.self)))
    } catch {
      throw HTTPRefusal(400, "\(error)")
    }
  }
}

/// The objects that the program has named for the page.
struct InspectorRoots {
  private let values: [(name: String, value: LuaValue)]

  init(_ roots: [String: LuaValue]) {
    values = roots.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The names with the numbers of the objects; 0 for an object that is not observed.
  func json(_ host: LuaHost) -> String {
    let objects = values.map { root in
      "{\"name\":\(jsonText(root.name)),\"object\":\(host.number(of: root.value) ?? 0)}"
    }
    return "[\(objects.joined(separator: ","))]"
  }
}
