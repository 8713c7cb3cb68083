import Foundation
import Observables
import Testing

/// Graphs of Swift models (W2).
@Suite struct GraphTests {
  @Test func `a graph shows keys, lazy properties, watchers and dependencies`() throws {  // W2
    let loop = Loop()
    let person = Person("Ada", address: Address("10115"))
    let graph = try loop.turn {
      try person.observe("address.zip", options: WatcherOptions(name: "label")) { _ in }
      return person.graph(.mermaid)
    }
    #expect(
      graph == """
        flowchart LR
          subgraph o1["Person"]
            o1k1["address"]
          end
          subgraph o2["address: Address"]
            o2k1["zip"]
          end
          w1(["label"])
          w1 -->|"address.zip"| o2k1
          o1k1 --- o2

        """)
  }

  @Test
  func `lazy properties are shown whether they were read or not, and none is computed`()
    throws
  {  // W2
    let loop = Loop()
    let person = Poet()
    let graph = loop.turn { person.graph(.dot) }
    #expect(person.runs == [:])
    #expect(graph.contains("full (invalid)") && graph.contains("nick (invalid)"))
    loop.turn { #expect(person.shout == "ADA LOVELACE") }
    let runs = person.runs
    let lines = loop.turn { person.graph(.json).split(separator: "\n").map(String.init) }
    #expect(person.runs == runs)
    #expect(
      lines.contains { $0.contains(#""kind": "depends""#) && $0.contains(#""path": "last""#) })
    #expect(lines.contains { $0.contains(#""name": "shout", "lazy": "valid", "tracked": true"#) })
  }

  @Test func `members of collections have their place`() throws {  // W2
    let loop = Loop()
    let cart = Cart()
    let graph = try loop.turn {
      try cart.items.observe("*.zip", options: WatcherOptions(name: "zips")) { _ in }
      return cart.items.graph(.mermaid)
    }
    #expect(graph.contains("[\"#35;0: Address\"]") && graph.contains("[\"#35;1: Address\"]"))
  }

  @Test func `JSON is valid for any names`() throws {  // W2
    let loop = Loop()
    let person = Person("Ada")
    let text = try loop.turn {
      try person.observe("name", options: WatcherOptions(name: "\"\\\u{1}\n\t/é🙂")) { _ in }
      return person.graph(.json)
    }
    let graph = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [[String: Any]]])
    #expect(graph["watchers"]?.first?["name"] as? String == "\"\\\u{1}\n\t/é🙂")
    #expect(graph["edges"]?.count == 1)
  }

  @Test func `a graph keeps no object alive`() throws {  // W2
    let loop = Loop()
    var person: Person? = Person("Ada", address: Address("10115"))
    weak let address = person?.address
    try loop.turn {
      try person?.observe("address.zip") { _ in }
      _ = person?.graph()
      person = nil
    }
    #expect(address == nil)
  }
}

private final class Cart {
  let items = ObservableArray([Address("1"), Address("2")])
}
