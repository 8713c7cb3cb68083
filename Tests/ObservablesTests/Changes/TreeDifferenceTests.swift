import Testing

@testable import Observables

/// X2: the cost of a list of changes.
@Suite struct `The difference of two trees` {
  @Test func `searches a list once for all objects that have moved in it`() {
    let shapes = ObservableArray((1...100).map { Shape($0) })
    let reader = TreeReader()
    let root = reader.entry(of: shapes).entry
    root.contents = reader.contents(of: shapes)
    let (walk, entries) = TreeWalk.walk(from: root) { $0.contents }
    shapes.set(shapes.elements.reversed())
    let reversed = reader.contents(of: shapes)
    let side = TreeDifference.Side(
      walk: walk, contents: { $0 === root ? reversed : $0.contents }, only: [])
    let positions = (1...100).reversed().map { [DeepChange.Key.index($0)] }
    #expect(entries.dropFirst().map { side.path(to: $0) } == positions)
    #expect(side.moves.searchCount == 1)
  }
}
