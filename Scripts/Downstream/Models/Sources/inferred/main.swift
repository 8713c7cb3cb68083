import ObservableModels

// Models and observers inherit the main actor from their superclass.

@MainActor class View {}

@ObservableModel final class Panel: View {
  var text = ""
  var number = 0
  var child: Panel?
  var parts: [Panel] = []
  let list = ObservableArray<Panel>()

  @Computed("child.text") var title: String
  private func makeTitle() -> String { child?.text ?? "" }
  @Computed var tracked: String
  private func makeTracked() -> String { (child?.text ?? "") + "!" }
  @Computed("title") var declared: String
  private func makeDeclared() -> String { title + "?" }
  @LazyProperty(configure: "fill") var card: Panel?
  private static func makeCard() -> Panel { Panel() }
  private func fill(_ card: Panel) { card.text = "card" }
  @LazyProperty(loader: "load") var size: Int
  private func load(_ name: String) { size = name.count }
}

final class Plain: View, ObservableModel {
  static let properties = ModelProperties(for: Plain.self) {
    Property("panel", get: { $0.panel }, set: { $0.panel = $1 })
  }
  let observation = ModelObservation()
  var panel: Panel? { didSet { observation.didSet(0, from: oldValue, to: panel) } }
}

final class Screen: View, TextObserver {
  private let log: Log
  init(_ log: Log) { self.log = log }
  @MainActor func heard(_ text: String) { log.add(text) }
}

try await runChecks()
