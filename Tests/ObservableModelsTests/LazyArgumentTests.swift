import ObservableModels
import Testing

private struct Style: Sendable { let name: String }

@ObservableModel private final class Sheet { var text = "" }

@ObservableModel private final class Screen {
  var title = "screen"
  private(set) var log: [String] = []

  @LazyProperty(configure: "fill", with: Style(name: "plain")) var card: Sheet?
  private static func makeCard(_ style: Style) -> Sheet {
    let card = Sheet()
    card.text = style.name
    return card
  }
  private func fill(_ card: Sheet, _ style: Style) { log.append("\(card.text) \(style.name)") }

  @LazyProperty(configure: "show", with: "large") var large: Sheet?
  private static func makeLarge(_ size: String) throws -> Sheet { makeCard(Style(name: size)) }
  private func show(_ card: Sheet) { log.append(card.text) }

  @LazyProperty(configure: "note") var small: Sheet?
  private static func makeSmall() -> Sheet { Sheet() }
  private func note() { log.append("noted \(small?.text ?? "nothing")") }

  @LazyProperty(with: 3) var bare: Sheet?
  private static func makeBare(_ count: Int) -> Sheet { makeCard(Style(name: "\(count)")) }
}

/// Z7: properties that are created with an argument and then configured.
struct LazyArgumentTests {
  private let screen = Screen()

  @Test func `create and configure receive the argument`() {
    #expect(screen.card?.text == "plain" && screen.card?.text == "plain")
    #expect(screen.log == ["plain plain"])
    screen.card = nil
    #expect(screen.card?.text == "plain")
    #expect(screen.log == ["plain plain", "plain plain"])
  }

  @Test func `configure may omit the argument and the value`() {
    #expect(screen.large?.text == "large")
    #expect(screen.small?.text == "")
    #expect(screen.bare?.text == "3")
    #expect(screen.log == ["large", "noted "])
  }

  @Test func `a property declared by hand has the same options`() {
    final class Box: ObservableModel {
      static let properties = ModelProperties(for: Box.self) {
        Property(
          "card", lazy: { $0.$card }, with: "a", create: { Screen.card($0) },
          configure: { box, card, argument in box.log.append(card.text + argument) })
        Property(
          "other", lazy: { $0.$other }, create: { Screen.card("b") },
          configure: { box in box.log.append("other") })
      }
      let observation = ModelObservation()
      var log: [String] = []
      @Lazy var card: Sheet?
      @Lazy var other: Sheet?
    }
    let box = Box()
    #expect(box.card?.text == "a" && box.other?.text == "b")
    #expect(box.log == ["aa", "other"])
  }
}

extension Screen {
  fileprivate static func card(_ text: String) -> Sheet {
    let card = Sheet()
    card.text = text
    return card
  }
}
