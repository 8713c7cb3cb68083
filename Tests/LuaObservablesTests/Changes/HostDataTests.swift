import Lua
import LuaObservables
import Observables
import Testing

/// X2 and X4 for lists of the program whose elements reach scripts as new tables.
@Suite struct `Changes of lists with data` {
  @Test func `are none if an element is equal again`() throws {
    let loop = Loop(clock: .virtual)
    let host = try LuaHost(loop: loop)
    var reports: [String] = []
    host.onError = { reports.append("\($0)") }
    let list = ObservableArray<[Int]>([[1], [2], [2]])
    try host.set("list", to: list)
    try host.run(
      """
      count = 0
      require "obs".changes({ list = list }, function(_, changes) count = count + #changes end)
      """)
    for (changed, expected) in [([1], 0), ([2], 1), ([1], 2)] {
      list[0] = [7]
      list[0] = changed
      loop.flush()
      #expect(host["count"] == .integer(Int64(expected)))
    }
    list.append([1])
    list.remove(at: 3)
    loop.flush()
    #expect(host["count"] == 2)
    #expect(reports == [])
  }
  // X4
  @Test func `are made once by a merge that only adds`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual))
    let (list, box) = (ObservableArray<[Int]>([[1], [2]]), Box())
    try host.set("list", to: list)
    try host.set("box", to: box)
    try host.run(
      """
      local obs = require "obs"
      for _ = 1, 2 do
        obs.merge(list, { { 2 }, { 3 } }, { key = "id", add_only = true })
        obs.merge(box, { sizes = { b = 2 } }, { add_only = true })
      end
      """)
    #expect(Array(list) == [[2], [3], [1]])
    #expect(box.sizes == ["a": 1, "b": 2])
  }
}

private final class Box: ObservableModel {
  static let properties = ModelProperties(for: Box.self) {
    Property("sizes", get: { $0.sizes }, set: { $0.sizes = $1 })
  }
  let observation = ModelObservation()
  var sizes = ["a": 1] { didSet { observation.didSet(0, from: oldValue, to: sizes) } }
}
