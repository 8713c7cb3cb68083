import ObservableModels
import Testing

@ObservableModel private final class Mixed {
  var a = 1
  var b: Int
  var c: String?
  var d = 4
  var log: [String] = []

  init(a: Int, b: Int) {
    // Not all properties are initialized yet: each assignment sets a first value.
    self.a = a
    c = "c"
    self.b = b
    d += 1
    log.append("made")
  }

  convenience init() { self.init(a: 1, b: 2) }
}

@ObservableModel private class Base {
  var x = 1
  var y = 2
}

@ObservableModel private final class Derived: Base {
  var z = 3
  var w = 4
  init(z: Int) {
    self.z = z
    super.init()
    x = 10
    y += 1
    w += 1
  }
}

extension Mixed {
  convenience init(d: Int) {
    self.init()
    self.d = d
  }
}

@ObservableModel(.threadSafe) private final class Shared {
  var a = 1
  var b: String
  init(b: String) { self.b = b }
}

/// First values of observed properties: from the declaration, or from an initializer.
struct InitializerTests {
  @Test func `an initializer gives first values, in any order`() {
    let mixed = Mixed(a: 5, b: 6)
    #expect((mixed.a, mixed.b, mixed.c, mixed.d, mixed.log) == (5, 6, "c", 5, ["made"]))
    #expect(Mixed().a == 1)
    #expect(Mixed(d: 7).d == 7)
    #expect(Shared(b: "b").b == "b")
  }

  @Test func `a subclass sets its properties before the inherited ones`() {
    let derived = Derived(z: 30)
    #expect((derived.x, derived.y, derived.z, derived.w) == (10, 3, 30, 5))
  }

  @Test func `all properties are observed after initialization`() {
    let loop = Loop(clock: .virtual)
    let mixed = Mixed()
    var log: [String] = []
    mixed.observe(#path(\.a), in: loop) { log.append("a \($0.a)") }
    mixed.observe(#path(\.d), in: loop) { log.append("d \($0.d)") }
    loop.turn { (mixed.a, mixed.d) = (2, 3) }
    #expect(log == ["a 2", "d 3"])
  }
}
