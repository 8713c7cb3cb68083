import ObservableModels
import Testing

@ObservableModel private final class Shop {
  var items: [Address] = []
  var prices: [String: Int] = [:]
  var tags: Set<String> = []
  var size: Size?
  struct Size { var width = 1 }
}

/// P5, C12: collections and structures that a model by macro holds as values, in a path.
struct HeldValueTests {
  private let loop = Loop(clock: .virtual)
  private let shop = Shop()

  @Test func `paths lead into arrays, dictionaries and sets, which are changed in place`() throws {
    var events: [String] = []
    try shop.observe("items.*.zip", in: loop) { events.append("zips \($0.items.map(\.zip))") }
    shop.observe(#path(\.items.count), in: loop) {
      events.append("count \($0.items.count)")
    }
    try shop.observe("prices.tea", in: loop) { events.append("tea \($0.prices["tea"] ?? 0)") }
    try shop.observe("tags.count", in: loop) { events.append("tags \($0.tags.count)") }
    let address = Address("1")
    loop.turn { shop.items.append(address) }
    loop.turn { address.zip = "2" }
    loop.turn {
      shop.prices["tea", default: 0] += 3
      shop.tags.insert("new")
    }
    #expect(
      events == [#"zips ["1"]"#, "count 1", #"zips ["2"]"#, "tea 3", "tags 1"])
    #expect(try shop.value(at: "items.0.zip") as? String == "2")
  }

  @Test func `an unobserved array is changed without a copy`() {
    shop.items = (0..<100).map { Address("\($0)") }
    let before = shop.items.withUnsafeBufferPointer { $0.baseAddress }
    shop.items[3] = Address("x")
    #expect(shop.items.withUnsafeBufferPointer { $0.baseAddress } == before)
  }

  @Test func `a path into a structure reports its changes, and can read it`() throws {
    var widths: [Int?] = []
    shop.observe(#path(\.size?.width), in: loop) { widths.append($0.size?.width) }
    loop.turn { shop.size = Shop.Size() }
    loop.turn { shop.size?.width += 1 }
    #expect(widths == [1, 2])
    #expect(try shop.value(at: "size.width") as? Int == 2)
  }
}
