import Observables
import OpenCombine

/// Operations on 10,000 elements with no watcher, one and a hundred, in turns of a hundred
/// operations, compared with `Array` and peers; and one change under an operator.
func addCollectionRows(to harness: inout Harness) throws {
  try addAppendRows(to: &harness)
  try addListRows(to: &harness)
  try addOperatorRows(to: &harness)
}

private let size = 10_000

private func addAppendRows(to harness: inout Harness) throws {
  let count = 1_000_000
  var appended = 0
  let floor = harness.time(count) {
    var array: [Int] = []
    for i in 0..<$0 { array.append(i) }
    appended += array.count
  }
  harness.add("append to a list of Int", "Array", floor)
  let observable = harness.time(count) {
    let array = ObservableArray<Int>()
    for i in 0..<$0 { array.append(i) }
    appended -= array.count
  }
  check(appended == 0, "both append")
  harness.add(
    "append to a list of Int", "ObservableArray, unobserved", observable, limit: 3 * floor,
    "≤ 3 × Array")
  let published = PublishedList()
  let batch = 1000
  harness.add(
    "append to a list of Int", "OpenCombine @Published [Int], 1,000 elements, unobserved",
    harness.time(batch) {
      published.items = []
      for i in 0..<$0 { published.items.append(i) }
    })
}

/// Makes a list with watchers: half of them on the whole list, the others on one slot each.
private func observed(_ watchers: Int, in loop: Loop, _ calls: Counter) throws
  -> ObservableArray<Int>
{
  let array = ObservableArray(0..<size)
  for i in 0..<watchers {
    let path = try Path(i % 2 == 0 ? "*" : "#\(i * 37)")
    try array.observe(path, in: loop) { _ in calls.count += 1 }
  }
  return array
}

private func addListRows(to harness: inout Harness) throws {
  let loop = Loop()
  let calls = Counter()
  let concepts = [
    "insert at the front of 10,000, and remove it", "remove and insert in the middle of 10,000",
    "sort 10,000, back and forth",
  ]
  let counts = [1000, 1000, 10]
  var plain = Array(0..<size)
  let floors = [
    harness.time(counts[0]) {
      for i in 0..<$0 {
        plain.insert(i, at: 0)
        plain.remove(at: 0)
      }
    },
    harness.time(counts[1]) {
      for _ in 0..<$0 { plain.insert(plain.remove(at: size / 2), at: size / 2) }
    },
    harness.time(counts[2]) { for i in 0..<$0 { plain.sort { i % 2 == 0 ? $0 < $1 : $0 > $1 } } },
  ]
  check(plain.count == size, "Array keeps its size")
  var unobserved: [Double] = []
  for watchers in [0, 1, 100] {
    let array = try observed(watchers, in: loop, calls)
    let times = [
      harness.time(counts[0]) {
        for i in 0..<$0 {
          array.insert(i, at: 0)
          array.remove(at: 0)
          if i % 100 == 0 { loop.flush() }
        }
      },
      harness.time(counts[1]) {
        for i in 0..<$0 {
          array.insert(array.remove(at: size / 2), at: size / 2)
          if i % 100 == 0 { loop.flush() }
        }
      },
      harness.time(counts[2]) {
        for i in 0..<$0 {
          array.sort { i % 2 == 0 ? $0 < $1 : $0 > $1 }
          loop.flush()
        }
      },
    ]
    check(array.count == size, "ObservableArray keeps its size")
    if watchers == 0 { unobserved = times }
    for (index, concept) in concepts.enumerated() {
      if watchers == 0 { harness.add(concept, "Array", floors[index]) }
      let name = watchers == 0 ? "unobserved" : "\(watchers) watcher\(watchers == 1 ? "" : "s")"
      let isHeld = index == 0 && watchers > 0
      harness.add(
        concept, "ObservableArray, \(name)", times[index],
        limit: isHeld ? 1.5 * unobserved[0] : nil, isHeld ? "≤ 1.5 × unobserved" : nil)
    }
  }
  check(calls.count > 0, "the watchers were called")
  addListPeers(to: &harness, concepts)
}

private func addListPeers(to harness: inout Harness, _ concepts: [String]) {
  let published = PublishedList()
  published.items = Array(0..<size)
  var heard = 0
  var last = published.items
  let sink = published.$items.sink { items in
    heard += items.difference(from: last).count
    last = items
  }
  let time = harness.time(20) {
    for i in 0..<$0 {
      published.items.insert(-1 - i, at: 0)
      published.items.remove(at: 0)
    }
  }
  harness.add(concepts[0], "OpenCombine @Published [Int] + difference(from:), 1 watcher", time)
  check(heard > 0, "OpenCombine delivers")
  sink.cancel()
}

private func addOperatorRows(to harness: inout Harness) throws {
  let loop = Loop()
  for length in [100, 10_000, 1_000_000] {
    let concept = "one change under an operator, n = \(length)"
    let items = ObservableArray((0..<length).map { Leaf(value: $0) })
    harness.add(
      concept, "added up again",
      harness.time(max(1, 1_000_000 / length)) {
        for i in 0..<$0 {
          items[i % length].value += 1
          check(items.reduce(0) { $0 &+ $1.value } > 0, "a sum")
        }
      })
    for path in ["@sum.value", "@max.value"] as [Path] {
      let calls = Counter()
      let watcher = try items.observe(path, in: loop) { _ in calls.count += 1 }
      harness.add(
        concept, path.description,
        harness.time(20_000) {
          // An element becomes the largest, and then gets its former value again.
          for i in 0..<$0 {
            let place = i / 2 &* 7919 % length
            items[place].value = i % 2 == 0 ? length + i : place
            loop.flush()
          }
        })
      check(calls.count > 0, "the operator's watcher was called")
      if path == "@sum.value" {
        check(
          try items.value(at: path) as? Int == items.reduce(0) { $0 + $1.value }, "the kept sum")
      }
      watcher.stop()
      loop.endTurn()
    }
  }
}

private final class Counter {
  var count = 0
}

private final class PublishedList {
  @OpenCombine.Published var items: [Int] = []
}
