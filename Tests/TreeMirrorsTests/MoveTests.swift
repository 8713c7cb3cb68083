import Observables
import TestSupport
import Testing
@testable import TreeMirrors

/// A4: batches of several processes that move, remove and insert elements of the same lists.
@Suite struct `Moves in mirrors` {
  private static let names: [MirrorKey] = ["a", "b", "c"].map { .text(Array($0.utf8)) }

  /// A copy of a tree with three lists, whose changes are batches.
  private final class Copy {
    let document = MirrorDocument()
    private var lastHandle = 0

    /// The lists of the first copy.
    init(_ lists: [[MirrorValue]]) {
      let root = document.makeNode(.plain, model: [], handle: 1)
      var operations: [MirrorOperation] = [.make(root)]
      var fields: [MirrorKey: MirrorValue] = [:]
      lastHandle = 1
      for (name, values) in zip(names, lists) {
        let list = make(&operations)
        fields[name] = .node(list)
        operations.append(.contents(list, values.map { element($0, &operations) }, [:]))
      }
      document.begin(with: root, operations + [.contents(root, [], fields)])
    }

    init(of state: [UInt8]) throws { document.begin(with: try MirrorSnapshot(from: state)) }

    deinit { document.end() }

    private func make(_ operations: inout [MirrorOperation]) -> MirrorNode {
      lastHandle += 1
      let node = document.makeNode(.plain, model: [], handle: lastHandle)
      operations.append(.make(node))
      return node
    }

    /// An object for a text, which is its name; otherwise the value itself.
    private func element(
      _ value: MirrorValue, _ operations: inout [MirrorOperation]
    ) -> MirrorValue {
      guard case .text = value else { return value }
      let node = make(&operations)
      operations.append(.contents(node, [], [names[0]: value]))
      return .node(node)
    }

    /// The lists, with nil for one that is not there any more.
    var nodes: [MirrorNode?] { names.map { document.root.fields[$0]?.node } }
    var lists: [[MirrorValue]] { nodes.map { $0?.list ?? [] } }

    /// The names of objects and the other values, by lists.
    var texts: [[String]] {
      lists.map { list in
        list.map { value in
          if case .integer(let number) = value { return "=\(number)" }
          guard let node = value.node else { return "?" }
          guard case .text(let name)? = node.fields[names[0]] else { return "?" }
          return String(decoding: name, as: UTF8.self)
        }
      }
    }

    /// Changes lists, and returns the batch.
    func change(to lists: [[MirrorValue]?]) -> [UInt8] {
      var operations: [MirrorOperation] = []
      for (node, list) in zip(nodes, lists) {
        guard let node, let list else { continue }
        let new = list.map { element($0, &operations) }
        let script = EditScript(from: node.list.count, to: new.count, limit: 3) {
          node.list[$0].isSame(new[$1])
        }
        var count = node.list.count
        for step in script.steps {
          switch step {
          case .insert(let at, let index):
            operations.append(
              .insert(node, at: at == count ? MirrorOperation.end : at, new[index]))
            count += 1
          case .remove(let at, let old):
            operations.append(.remove(node, at: at, old: node.list[old]))
            count -= 1
          case .replace(let at, let old, let index):
            operations.append(.replace(node, at: at, old: node.list[old], with: new[index]))
          }
        }
      }
      for (name, list) in zip(names, lists) where list == nil {
        operations.append(.set(document.root, name, nil))
      }
      return document.bytes(of: document.add(operations))
    }

    func receive(_ batch: [UInt8]) throws { document.apply(try document.batch(from: batch)) }
  }

  /// The lists that a text says, by the elements of a copy: "1 2 / 3 / -" has the objects 1, 2 and
  /// 3, and no third list; "=1" is the value 1.
  private static func lists(_ text: String, of copy: Copy? = nil) -> [[MirrorValue]?] {
    var known: [String: MirrorValue] = [:]
    if let copy {
      for (name, value) in zip(copy.texts.joined(), copy.lists.joined()) { known[name] = value }
    }
    return text.split(separator: "/").map { list in
      let names = list.split(separator: " ").map(String.init)
      if names == ["-"] { return nil }
      return names.map { name in
        if name.hasPrefix("=") { return .integer(Int64(name.dropFirst())!) }
        return known[name] ?? .text(Array(name.utf8))
      }
    }
  }

  private static func text(_ copy: Copy) -> String {
    zip(copy.nodes, copy.texts)
      .map { node, names in node == nil ? "-" : names.joined(separator: " ") }
      .joined(separator: " / ")
  }

  @Test(arguments: [
    // A removal, and a sort that passes the element.
    ("1 5 4 2 3 / / ", "1 4 2 3 / / ", "1 2 3 4 5 / / ", "1 2 3 4 /  / "),
    ("1 2 3 / / ", "1 3 / 2 / ", "2 1 3 / / ", "1 3 / 2 / "),
    // Two moves of the same object: the first one stays.
    ("1 2 / / ", "2 / 1 / ", "2 / / 1", "2 / 1 / "),
    // Two lists exchange elements, of which one has gone.
    ("1 / 2 / ", " / 2 / ", "2 / 1 / ", "2 /  / "),
    ("1 / 2 / 3", "1 / 2 / ", "2 / 3 / 1", "2 /  / 1"),
    // The list that an object was moved to has gone, so the object goes back.
    ("1 2 / 3 / ", "1 2 / - / ", "2 / 3 1 / ", "1 2 / - / "),
    // A new element in the place of one that has gone.
    ("1 2 / / ", "2 / / ", "3 2 / / ", "3 2 /  / "),
    // Values are sorted if they are all there, and otherwise stay as they are.
    ("=3 =1 =2 / / ", "=1 =2 / / ", "=1 =2 =3 / / ", "=1 =2 /  / "),
    ("=3 =1 =2 / / ", "=3 =1 / / ", "=1 =2 =3 / / ", "=1 =3 /  / "),
    ("=3 =1 =2 =9 / / ", "=3 =1 =2 =8 / / ", "=1 =2 =3 =9 / / ", "=1 =2 =3 =8 /  / "),
    ("=0 =0 =1 / / ", "=0 =7 =1 / / ", "=1 =0 =0 / / ", "=1 =7 =0 /  / "),
  ])
  func `what nobody removed stays`(before: String, first: String, second: String, after: String)
    throws
  {
    let copy = Copy(Self.lists(before).map { $0 ?? [] })
    let state = copy.document.stateBytes()
    let server = try Copy(of: state)
    for change in [first, second] {
      let copy = try Copy(of: state)
      try server.receive(copy.change(to: Self.lists(change, of: copy)))
    }
    #expect(Self.text(server) == after)
  }

  @Test func `random batches lose and double nothing`() throws {
    for seed in 1...3000 {
      var random = SeededGenerator(seed: seed)
      func pick(_ count: Int) -> Int { .random(in: 0..<count, using: &random) }
      func shuffled(_ count: Int) -> [MirrorValue] {
        (0..<count).map { _ in .integer(Int64(pick(4))) }
      }
      let first = Copy([
        Self.lists("1 2 3 4")[0]!, Self.lists("5 6 7")[0]!, shuffled(5),
      ])
      let state = first.document.stateBytes()
      let before = first.texts
      var (removed, made): ([String], Set<String>) = ([], [])
      var batches: [[[UInt8]]] = []
      for process in 0..<3 {
        let copy = try Copy(of: state)
        batches.append([])
        for number in 0...pick(3) {
          var lists = copy.lists
          let old = copy.texts.joined()
          for _ in 0...pick(3) {
            let index = pick(3)
            let other = index == 2 ? 2 : pick(2)
            switch pick(7) {
            case 0: lists[index].shuffle(using: &random)
            case 1: lists[index].reverse()
            case 2 where lists[index].count > 1:
              lists[index].swapAt(pick(lists[index].count), pick(lists[index].count))
            case 3 where !lists[index].isEmpty: lists[index].remove(at: pick(lists[index].count))
            case 4:
              let new = "n\(process)-\(number)-\(pick(1 << 30))"
              let value = index == 2 ? .integer(Int64(pick(4))) : MirrorValue.text(Array(new.utf8))
              lists[index].insert(value, at: pick(lists[index].count + 1))
            case 5 where !lists[index].isEmpty && !lists[other].isEmpty:
              let (i, j) = (pick(lists[index].count), pick(lists[other].count))
              let value = lists[index][i]
              lists[index][i] = lists[other][j]
              lists[other][j] = value
            default:
              if lists[index].isEmpty { continue }
              let value = lists[index].remove(at: pick(lists[index].count))
              lists[other].insert(value, at: pick(lists[other].count + 1))
            }
          }
          batches[process].append(copy.change(to: lists))
          var rest = Array(copy.texts.joined())
          made.formUnion(rest.filter { $0.hasPrefix("n") })
          for name in old {
            if let index = rest.firstIndex(of: name) {
              rest.remove(at: index)
            } else {
              removed.append(name)
            }
          }
        }
      }
      let server = try Copy(of: state)
      while let process = batches.indices.filter({ !batches[$0].isEmpty })
        .randomElement(using: &random)
      {
        try server.receive(batches[process].removeFirst())
      }
      func count(_ name: String, _ texts: [[String]]) -> Int {
        texts.joined().count { $0 == name }
      }
      for name in made.union(before.joined()) {
        let was = made.contains(name) ? 1 : count(name, before)
        let now = count(name, server.texts)
        let least = was - removed.count { $0 == name }
        #expect(now >= least, "seed \(seed): \(name) of \(before) is lost: \(server.texts)")
        if !name.hasPrefix("=") { #expect(now <= was, "seed \(seed): \(name) is doubled") }
      }
    }
  }
}
