#if DEBUG
  import Observables
  import Testing

  /// The number of steps of a property that depends on many others.
  @Suite struct LazyGrowthTests {
    private final class Leaf: ObservableModel {
      static let properties = ModelProperties(for: Leaf.self) {
        Property("origin", get: { $0.origin })
        Property("sign", lazy: { $0.$sign }, from: ["origin.source"]) { $0.origin.source.signum() }
      }
      let observation = ModelObservation()
      let origin: Cell
      @Lazy var sign: Int

      init(_ origin: Cell) { self.origin = origin }
    }

    private final class Tree: ObservableModel {
      static let properties = ModelProperties(for: Tree.self) {
        Property("leaves", get: { $0.leaves })
        Property("tracked", tracked: { $0.$tracked }) { $0.sum }
        Property("declared", lazy: { $0.$declared }, from: ["leaves.*.sign"]) { $0.sum }
      }
      let observation = ModelObservation()
      let leaves: ObservableArray<Leaf>
      @Lazy var tracked: Int
      @Lazy var declared: Int
      private(set) var runs = 0

      init(_ leaves: [Leaf]) { self.leaves = ObservableArray(leaves) }

      private var sum: Int {
        runs += 1
        return leaves.reduce(0) { $0 + $1.sign }
      }
    }

    /// The steps of a write after which `count` dependencies are invalid and keep their values.
    private func steps(_ property: KeyPath<Tree, Int>, _ count: Int) -> Int {
      let (loop, origin) = (Loop(), Cell(1))
      return loop.turn {
        let tree = Tree((0..<count).map { _ in Leaf(origin) })
        #expect(tree[keyPath: property] == count)
        let before = loop.engine.operations.steps
        origin.source = 2
        #expect(tree[keyPath: property] == count && tree.runs == 1)
        return loop.engine.operations.steps - before
      }
    }

    @Test func `steps are proportional to the dependencies, if none of them has changed`() {  // Z2
      for property in [\Tree.tracked, \Tree.declared] {
        let (few, many) = (steps(property, 100), steps(property, 800))
        #expect(few > 100 && many < 10 * few)
      }
    }
  }
#endif
