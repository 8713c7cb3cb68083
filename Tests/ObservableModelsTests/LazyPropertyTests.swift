import Observables
import Testing

/// Computed and lazy properties of models that are written by macro.
struct LazyPropertyTests {
  private let loop = Loop(clock: .virtual)
  private let card = Card()

  // Z2
  @Test func `a computed property runs if it is read after a change of one of its paths`() {
    loop.turn {
      #expect(card.full == "Ada Byron" && card.full == "Ada Byron")
      #expect(card.calls == ["full"])
      card.last = "Lovelace"
      #expect(!card.$full.isValid && card.calls == ["full"])
      #expect(card.full == "Ada Lovelace")
    }
  }

  // Z10
  @Test func `without paths a property depends on the values that the method has read`() throws {
    var lines: [String] = []
    try card.observe("line", in: loop) { lines.append($0.line) }
    loop.turn { card.address = Address("1") }
    loop.turn { card.address?.zip = "2" }
    loop.turn { card.first = "Augusta" }
    #expect(lines == ["Ada Byron, 1", "Ada Byron, 2", "Augusta Byron, 2"])
  }

  // Z5
  @Test func `assigning overrides until the next change`() throws {
    loop.turn {
      card.full = "Countess"
      #expect(card.full == "Countess")
      card.first = "A."
      #expect(card.full == "A. Byron")
    }
  }

  // Z8
  @Test func `a method may throw, and the value next to the declaration is used instead`() throws {
    loop.onError = { _ in }
    card.first = ""
    #expect(card.initial == "?")
    #expect(throws: NoName.self) { try card.$initial.get() }
    let error = #expect(throws: ModelError.self) {
      try Card.properties.set("initial", of: card, to: "X")
    }
    #expect(error?.code == .readOnly)
  }

  // Z7
  @Test func `an object from a static method is configured once, and created again after nil`() {
    #expect(card.$stamp.peek == nil)
    let stamp = card.stamp
    #expect(stamp?.zip == "new Ada" && card.stamp === stamp)
    card.stamp = nil
    #expect(card.stamp !== stamp)
  }

  // Z6
  @Test func `a loader receives the name and stores the value`() {
    #expect(card.size == 3 && card.size == 3 && card.calls == ["load size"])
  }

  // Z1
  @Test func `a lazy property is kept until it is invalidated`() throws {
    #expect(card.serial == 1 && card.serial == 1)
    try card.invalidate("serial")
    #expect(card.serial == 2)
  }
}
