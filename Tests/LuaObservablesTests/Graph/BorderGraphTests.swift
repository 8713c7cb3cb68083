import Lua
import LuaObservables
import Observables
import Testing

/// Graphs across the border (W2).
@Suite struct BorderGraphTests {
  @Test func `graphs cross the border in both directions`() throws {  // W2
    let test = try TestHost()
    let basket = Basket()
    try test.host.set("basket", to: basket)
    let result = try test.host.run(
      """
      local obs = require "obs"
      local page = { basket = basket, rate = 2 }
      obs.computed(page, "total", { "basket.sum", "rate" }, function(self)
        return self.basket.sum * self.rate
      end)
      obs.observe(page, { "total", "basket.items.#1" }, function() end, { name = "page" })
      local text = obs.graph(page, "mermaid")
      return text, obs.describe(basket):gsub("0x%x+", "ADDRESS")
      """, name: "=test.lua")
    let graph = """
      flowchart LR
        subgraph o1["table"]
          o1k1["basket"]
          o1k2["rate"]
          o1k3("total (valid)")
        end
        subgraph o2["basket: Basket"]
          o2k1("idle (invalid)")
          o2k2["items"]
          o2k3("sum (valid)")
        end
        subgraph o3["basket.items: ObservableArray#60;Int#62;"]
          o3k1["#35;1"]
          o3k2["#42;"]
        end
        w1(["page"])
        w1 -->|"total"| o1k3
        w1 -->|"basket.items.#35;1"| o3k1
        o1k3 -->|"basket.sum"| o2k3
        o1k3 -->|"rate"| o1k2
        o2k3 -->|"items.#42;"| o3k2
        o1k1 --- o2
        o2k2 --- o3

      """
    #expect(result.first?.text == graph)
    #expect(
      result.dropFirst().first?.text == """
        userdata: ADDRESS is observed:
          idle (lazy, invalid)
          items
            'sum' depends on it
            page on 'basket.items.#1', registered at test.lua:6
          sum (computed, valid)
            depends on: 'items.*'
            'total' of table depends on it
        """)
    let fromSwift = test.loop.turn { basket.graph(.json) }
    #expect(fromSwift.contains(#""name": "page", "site": "test.lua:6""#))
    #expect(basket.runs == 1)
  }
}

private final class Basket: ObservableModel {
  static let properties = ModelProperties(for: Basket.self) {
    Property("items", get: { $0.items })
    Property("sum", lazy: { $0.$sum }, from: ["items.*"]) { basket in
      basket.runs += 1
      return basket.items.reduce(0, +)
    }
    Property("idle", lazy: { $0.$idle }) { basket in
      basket.runs += 1
      return 0
    }
  }
  let observation = ModelObservation()
  let items = ObservableArray([1, 2])
  @Lazy var sum: Int
  @Lazy var idle: Int
  var runs = 0
}
