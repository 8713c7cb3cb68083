import Foundation
import Observables

final class Line: ObservableModel, Codable {
  static let properties = ModelProperties(for: Line.self) {
    Property("text", get: { $0.text }, set: { $0.text = $1 })
  }
  let observation = ModelObservation()
  var text: String { didSet { observation.didSet(0, from: oldValue, to: text) } }

  init(_ text: String) { self.text = text }

  // Encoded and decoded as its text, without `observation`.
  private enum CodingKeys: CodingKey { case text }
}

final class Document: ObservableModel {
  static let properties = ModelProperties(for: Document.self) {
    Property("title", get: { $0.title }, set: { $0.title = $1 })
    Property("lines", get: { $0.lines })
  }
  let observation = ModelObservation()
  var title = "" { didSet { observation.didSet(0, from: oldValue, to: title) } }
  let lines = ObservableArray<Line>()

  var text: String { "\(title): " + lines.map(\.text).joined(separator: " / ") }
}

let loop = Loop(clock: .virtual)
let (document, copy) = (Document(), Document())
let history = try ChangeHistory(of: document, in: loop)

try document.changes(in: loop) { _, changes in
  let data = try JSONEncoder().encode(changes)
  try copy.apply(JSONDecoder().decode([DeepChange].self, from: data))
  print("\(changes.count) changes give \(copy.text)")
}

loop.turn {
  document.title = "Letter"
  document.lines.append(contentsOf: [Line("Dear Ada,"), Line("see you soon.")])
}
loop.turn { document.lines.move(from: 1, to: 0) }
loop.turn { history.undo() }
loop.turn { document.lines[1].text = "see you tomorrow." }
