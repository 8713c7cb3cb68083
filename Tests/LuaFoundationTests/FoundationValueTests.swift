import Foundation
import Lua
import LuaFoundation
import LuaObservables
import Observables
import Testing

private struct Visit: Codable, Equatable {
  var at: Date
  var page: URL?
  var cost: Decimal
}

private final class Record: ScriptModel {
  static let properties = ModelProperties(for: Record.self) {
    Property("at", get: { $0.at }, set: { $0.at = $1 })
    Property("ended", get: { $0.ended }, set: { $0.ended = $1 })
    Property("link", get: { $0.link }, set: { $0.link = $1 })
    Property("bytes", get: { $0.bytes }, set: { $0.bytes = $1 })
    Property("price", get: { $0.price }, set: { $0.price = $1 })
    Property("id", get: { $0.id }, set: { $0.id = $1 })
    Property("dates", get: { $0.dates }, set: { $0.dates = $1 })
    Property("visit", get: { $0.visit }, set: { $0.visit = $1 })
    Property("moments", get: { $0.moments })
  }
  static let methods = ModelMethods(for: Record.self) {
    Method("later") { (record, seconds: Double) in record.at.addingTimeInterval(seconds) }
    Method("days") { (_, first: Date, last: Date?) in
      (last ?? first).timeIntervalSince(first) / 86_400
    }
  }
  let observation = ModelObservation()
  var at = Date(timeIntervalSince1970: 0) {
    didSet { observation.didSet(0, from: oldValue, to: at) }
  }
  var ended: Date?
  var link = URL(string: "https://example.org/a")!
  var bytes = Data([0, 255])
  var price = Decimal(1)
  var id = UUID(uuidString: "00000000-0000-0000-0000-0000000000FF")!
  var dates: [String: Date] = [:]
  var visit = Visit(at: Date(timeIntervalSince1970: 1), cost: 2)
  let moments = ObservableArray<Date>([])
}

/// B1, B2: values of Foundation's types in scripts.
struct FoundationValueTests {
  private let host: LuaHost
  private let loop = Loop(clock: .virtual)
  private let record = Record()

  init() throws {
    host = try LuaHost(loop: loop)
    host["record"] = record
  }

  private func message(_ script: String) -> String {
    do {
      try host.run(script)
      return "no error"
    } catch { return error.message }
  }

  @Test func `a date is the seconds since 1970`() throws {
    try host.run(
      """
      assert(record.at == 0 and math.type(record.at) == "float" and record.ended == nil)
      record.at, record.ended = 86400.5, os.time { year = 2000, month = 1, day = 1, hour = 12 }
      assert(record:later(0.5) == 86401 and record:days(0, 43200) == 0.5 and record:days(7) == 0)
      """)
    #expect(record.at == Date(timeIntervalSince1970: 86_400.5))
    #expect(record.ended.map { Calendar.current.component(.year, from: $0) } == 2000)
    try host.run("record.ended = nil")
    #expect(record.ended == nil)
  }

  @Test func `a URL and a UUID are their text, data are bytes`() throws {
    try host.run(
      """
      assert(record.link == "https://example.org/a" and record.bytes == "\\0\\255")
      assert(record.id == "00000000-0000-0000-0000-0000000000FF")
      record.link, record.bytes = record.link .. "?b=1#c", "\\1\\2\\128"
      record.id = "12345678-9abc-def0-1234-56789abcdef0"
      """)
    #expect(record.link == URL(string: "https://example.org/a?b=1#c"))
    #expect(record.bytes == Data([1, 2, 128]))
    #expect(record.id.uuidString == "12345678-9ABC-DEF0-1234-56789ABCDEF0")
  }

  @Test(arguments: [
    ("3", "3", "integer 3"), ("3.0", "3", "integer 3"), ("0.1", "0.1", "float 0.1"),
    ("3.133", "3.133", "float 3.133"), ("-1e3", "-1000", "integer -1000"),
    ("'0.30'", "0.3", "float 0.3"), ("' 1'", "", ""), ("1 << 62", "4611686018427387904", ""),
    ("'12345678901234567890.12'", "12345678901234567890.12", "nil 12345678901234567890.12"),
    ("'1e40'", "10000000000000000000000000000000000000000", "float 1e+40"),
    ("'.5e1'", "5", "integer 5"), ("0/0", "NaN", "float nan"),
  ])
  func `a decimal number keeps its digits`(given: String, value: String, back: String) throws {
    guard !value.isEmpty else {
      #expect(message("record.price = \(given)").contains("decimal number expected, got"))
      return
    }
    try host.run("record.price = \(given)")
    #expect("\(record.price)" == value)
    let results = try host.run(
      """
      local p = record.price \
      return (tostring(math.type(p)) .. ' ' .. tostring(p)):gsub('-nan', 'nan')
      """
    )
    if !back.isEmpty { #expect(results[0] == .string(LuaString(back))) }
    let before = record.price
    try host.run("record.price = record.price")
    #expect(record.price == before || before.isNaN)
  }

  @Test func `values of Foundation may stand in structures, dictionaries and collections`() throws {
    try host.run(
      """
      record.dates = { first = 1, last = 2.5 }
      assert(record.dates.last == 2.5)
      local visit = record.visit
      assert(visit.at == 1 and visit.cost == 2 and visit.page == nil)
      visit.at, visit.page, visit.cost = 60, "file:///x", "0.10"
      record.visit = visit
      record.moments:append(5)
      record.moments[2] = 7.5
      assert(record.moments[1] == 5 and record.moments:index_of(7.5) == 2)
      """)
    #expect(record.dates["last"] == Date(timeIntervalSince1970: 2.5))
    #expect(
      record.visit
        == Visit(
          at: Date(timeIntervalSince1970: 60), page: URL(string: "file:///x"),
          cost: Decimal(string: "0.1")!))
    #expect(record.moments.map(\.timeIntervalSince1970) == [5, 7.5])
  }

  @Test(arguments: [
    ("record.at = 'x'", "property 'at' of Record takes Date, not string"),
    (
      "record.at = 1/0",
      "property 'at' of Record takes Date: finite number of seconds expected, got inf"
    ),
    (
      "record.link = 'a b'",
      "property 'link' of Record takes URL: text of a URL expected, got 'a b'"
    ),
    ("record.link = 1", "property 'link' of Record takes URL, not number"),
    ("record.id = '1'", "property 'id' of Record takes UUID: text of a UUID expected, got '1'"),
    ("record.price = '1x'", "takes Decimal: decimal number expected, got '1x'"),
    ("record.price = 1e300", "takes Decimal: number is out of the range of Decimal: 1e+300"),
    ("record.price = {}", "property 'price' of Record takes Decimal, not table"),
    ("record.dates = {a = 'b'}", "takes Dictionary<String, Date>: value of 'a': number expected"),
    (
      "local v = record.visit v.page = '' record.visit = v",
      "property 'visit' of Record takes Visit: page: text of a URL expected, got ''"
    ),
    ("record:days('x')", "bad argument #1 to 'days' (number expected, got string)"),
    ("record.moments:append(0/0)", "takes values of type Date: finite number of seconds expected"),
  ])
  func `a value of another type is an error that names its place`(script: String, text: String) {
    let message = message(script)
    #expect(message.hasPrefix("script:1: ") && message.contains(text), "\(message)")
  }

  // T5
  @Test func `a watcher is called when a date changes`() throws {
    try host.run(
      """
      calls = 0
      require("obs").observe(record, "at", function() calls = calls + 1 end)
      record.at = record.at
      """)
    #expect(host["calls"] == 0)
    try host.run("record.at = record.at + 1")
    #expect(host["calls"] == 1)
  }
}
