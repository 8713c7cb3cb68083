import ObservableModels
import Testing

@ObservableModel private final class Shelf {
  var boxes: ObservableArray<Address> = []
  var `default` = 1
  var plain = Plain()
}

private struct Plain { var size = 1 }

/// `#path`.
struct PathMacroTests {
  // P10
  @Test func `a checked path is the same as its text`() {
    #expect(#path(Person.self, \.name) == "name")
    #expect(#path(Person.self, \.address?.zip) == "address.zip")
    #expect(#path(Manager.self, \Manager.team!.zip) == "team.zip")
    #expect(#path(Box<Address>.self, \.value.zip) == "value.zip")
  }

  @Test func `indices, backticks and values that are no models are spelled as text spells them`() {
    #expect(#path(Shelf.self, \.boxes[0].zip) == "boxes.0.zip")
    #expect(#path(Shelf.self, \.boxes.count) == "boxes.count")
    #expect(#path(Shelf.self, \.`default`) == "default")
    #expect(#path(Shelf.self, \.plain.size) == "plain.size")
  }

  @Test func `it registers as text does`() throws {
    let (loop, ada) = (Loop(clock: .virtual), Person("Ada"))
    var zips: [String?] = []
    try ada.observe(#path(Person.self, \.address?.zip), in: loop) { zips.append($0.address?.zip) }
    loop.turn { ada.address = Address("1") }
    #expect(zips == ["1"])
  }

  // P9
  @Test func `a property that is not observed traps when the path is made`() async {
    await #expect(processExitsWith: .failure) { _ = #path(Person.self, \.log) }
    await #expect(processExitsWith: .failure) { _ = #path(Person.self, \.boss?.log) }
  }
}
