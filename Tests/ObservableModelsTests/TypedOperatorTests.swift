import ObservableModels
import Testing

@ObservableModel private final class Item {
  var price: Int
  var weight = 0.5
  var size: Float = 1.5
  var discount: Int?
  var isLate = false
  var owner: Person?
  var tags: [String] = []

  init(_ price: Int) { self.price = price }
}

@ObservableModel private final class Order {
  let items: ObservableArray<Item> = []
  var list: [Item] = []
  let stock: ObservableDictionary<String, Item> = [:]
  var numbers: ObservableSet<Int> = []
  var parent: Order?
  let parts: ObservableArray<Order> = []
}

/// Wildcards and operators that `#path` spells.
struct TypedOperatorTests {
  private let loop = Loop(clock: .virtual)
  private let order = Order()

  init() { order.items.append(contentsOf: [Item(4), Item(6)]) }

  // C3
  @Test func `wildcards are the same as in text`() {
    #expect(#path(\Order.items.every.price).path == "items.*.price")
    #expect(#path(\Order.items.every).path == "items.*")
    #expect(#path(\Order.items.every.owner?.address?.zip).path == "items.*.owner.address.zip")
    #expect(#path(\Order.items.every.tags.every).path == "items.*.tags.*")
    #expect(#path(\Order.items.every.tags.count).path == "items.*.tags.count")
    #expect(#path(\Order.stock.every.price).path == "stock.*.price")
    #expect(#path(\Order.list.every.price).path == "list.*.price")
    #expect(#path(\Order.numbers.every).path == "numbers.*")
    #expect(
      #path(\Order.parent?.parts.every.items.every.price).path == "parent.parts.*.items.*.price")
    #expect(#path(\Order.parts.every.items.sum.price).path == "parts.*.items.@sum.price")
  }

  // C9
  @Test func `operators are the same as in text`() {
    #expect(#path(\Order.items.sum.price).path == "items.@sum.price")
    #expect(#path(\Order.items.avg.owner?.age).path == "items.@avg.owner.age")
    #expect(#path(\Order.items.first?.price).path == "items.@first.price")
    #expect(#path(\Order.list.last?.owner?.name).path == "list.@last.owner.name")
    #expect(#path(\Order.parts.sum.items.max.price).path == "parts.@sum.items.@max.price")
    #expect(#path(\Order.parts.sum.items.count).path == "parts.@sum.items.count")
    #expect(#path(\Order.parts.unionOfArrays.items).path == "parts.@unionOfArrays.items")
    #expect(
      #path(\Order.items.distinctUnionOfObjects.owner?.name).path
        == "items.@distinctUnionOfObjects.owner.name")
  }

  @Test func `a read has the type of the operator`() throws {
    order.items[0].discount = 3
    order.items[1].owner = Person("Ada")
    let sum: Int = try order.value(at: #path(\.items.sum.price))
    let weights: Double = try order.value(at: #path(\.items.sum.weight))
    let sizes: Float = try order.value(at: #path(\.items.sum.size))
    let average: Double? = try order.value(at: #path(\.items.avg.price))
    let largest: Int? = try order.value(at: #path(\.items.max.price))
    let discount: Int? = try order.value(at: #path(\.items.min.discount))
    let first: Int? = try order.value(at: #path(\.items.first?.price))
    let isLate: Bool = try order.value(at: #path(\.items.any.isLate))
    let prices: [Int] = try order.value(at: #path(\.items.unionOfObjects.price))
    let slot: Int? = try order.value(at: #path(\.items[slot: 1]?.price))
    let key: Int? = try order.value(at: #path(\.stock["tea"]?.price))
    #expect((sum, weights, sizes, average) == (10, 1, 3, 5))
    #expect((largest, discount, first, isLate) == (6, 3, 4, false))
    #expect((slot, key) == (6, nil))
    #expect(prices == [4, 6])
    #expect(type(of: #path(\Order.items.max.owner?.age)) == KeyPathTo<Order, Int?>.self)
    #expect(type(of: #path(\Order.parent?.items.sum.price)) == KeyPathTo<Order, Int?>.self)
    #expect(type(of: #path(\Order.parent?.items.max.price)) == KeyPathTo<Order, Int?>.self)
    #expect(type(of: #path(\Order.parts.unionOfArrays.items)) == KeyPathTo<Order, [Item]>.self)
    #expect(type(of: #path(\Order.parts.sum.items.avg.price)) == KeyPathTo<Order, Double?>.self)
  }

  @Test func `nothing to read is nil, or zero`() throws {
    let order = Order()
    #expect(try order.value(at: #path(\.items.sum.weight)) == 0)
    #expect(try order.value(at: #path(\.items.avg.weight)) == nil)
    #expect(try order.value(at: #path(\.items.max.price)) == nil)
    #expect(try order.value(at: #path(\.parent?.items.sum.price)) == nil)
    #expect(try order.value(at: #path(\.items.all.isLate)))
  }

  @Test func `a missing value, or one of another type, is an error`() {
    let order = Order()
    let price = KeyPathTo<Order, Int>(unchecked: "parent.items.@sum.price")
    let text = KeyPathTo<Order, String>(unchecked: "items.count")
    #expect {
      try order.value(at: price)
    } throws: {
      "\($0)".contains("there is no value; expected one of type Int")
    }
    #expect {
      try order.value(at: text)
    } throws: {
      "\($0)".contains("the value is of type Int, not String")
    }
  }

  @Test func `watchers report the same changes as with text`() {
    var log: [String] = []
    order.observe(#path(\.items.sum.price), in: loop) { _ in log.append("sum") }
    order.observe(#path(\.items.every.price), in: loop) { _ in log.append("every") }
    order.observe(#path(\.items[0].price), in: loop) { _ in log.append("0") }
    loop.turn { (order.items[0].price, order.items[1].price) = (6, 4) }
    loop.turn { order.items.append(Item(1)) }
    #expect(log == ["every", "0", "sum", "every"])
  }

  @Test func `values of a stream have their type`() async {
    var sums = order.values(#path(\.items.sum.price), in: loop).makeAsyncIterator()
    var names = order.values(#path(\.items.first?.owner?.name), in: loop).makeAsyncIterator()
    #expect(await sums.next() == 10)
    #expect(await names.next() == .some(nil))
    loop.turn {
      order.items[0].price = 5
      order.items[0].owner = Person("Ada")
    }
    #expect(await sums.next() == 11)
    #expect(await names.next() == "Ada")
  }

  @Test func `a value of another type is reported, and the stream continues`() async {
    var errors: [String] = []
    loop.onError = { errors.append("\($0)") }
    let text = KeyPathTo<Order, String>(unchecked: "parent.list.count")
    let values = order.values(text, in: loop)
    let parent = Order()
    parent.list = [Item(1)]
    withExtendedLifetime(values) { loop.turn { order.parent = parent } }
    #expect(errors.count == 1)
    #expect(errors.first?.contains("the value is of type Int, not String") == true)
  }

  @Test func `members for the compiler alone trap outside a path`() async {
    await #expect(processExitsWith: .failure) { _ = ObservableArray([1]).every }
    await #expect(processExitsWith: .failure) { _ = [1].sum }
    await #expect(processExitsWith: .failure) { _ = [1][slot: 0] }
  }

  @Test func `'*' cannot follow an operator`() async {
    await #expect(processExitsWith: .failure) { _ = #path(\Order.parts.sum.items.every.price) }
  }

  @Test func `methods with these names still work`() {
    #expect([1, 3, 2].max() == 3)
    #expect([1, 3, 2].min { $0 > $1 } == 3)
    #expect(ObservableArray([1, 3]).max() == 3)
  }
}
