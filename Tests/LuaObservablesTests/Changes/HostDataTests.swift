import Lua
import LuaObservables
import Observables
import Testing

/// X2 for lists of the program whose elements reach scripts as new tables.
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
}
