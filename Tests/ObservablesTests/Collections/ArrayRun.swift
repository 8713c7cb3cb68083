import Observables

/// One execution of a random program, on an `ObservableArray` and on an `Array` of numbers.
final class ArrayRun {
  /// A watcher, and the calls that it has to get.
  private final class Entry {
    let number: Int
    let watch: ArrayWatch
    let isImmediate: Bool
    var handle: Watcher?
    var calls = 0
    var isActive = true
    var isPaused = false
    var must = false
    /// The article that digits follow.
    var article: Int?
    var stored: [Int] = []
    var delivered: [Int] = []
    /// For edits: the list built from them, the number of edits, and its limit.
    var mirror: [Int] = []
    var edits = 0
    var limit: Int? = 0

    init(_ number: Int, _ watch: ArrayWatch, _ isImmediate: Bool) {
      (self.number, self.watch, self.isImmediate) = (number, watch, isImmediate)
    }
  }

  private let loop = Loop()
  private let articles = (0..<ArrayStep.articles).map { Article($0, price: $0 % 3) }
  private let array: ObservableArray<Article>
  private var model = [0, 1, 2, 0]
  private var prices: [Int]
  private var entries: [Entry] = []
  private var order: [Int] = []
  private var fault: String?

  init() {
    prices = articles.map(\.price)
    array = ObservableArray(model.map { [articles] in articles[$0] })
  }

  /// Returns nil if the array agrees with the reference.
  static func difference(_ program: [ArrayStep]) -> String? {
    let run = ArrayRun()
    for step in program + [.flush] {
      run.perform(step)
      if let fault = run.fault { return "\(fault) by \(step)" }
    }
    return nil
  }

  private func fail(_ message: String) { fault = fault ?? message }

  private func perform(_ step: ArrayStep) {
    let before = model
    switch step {
    case .flush: flush()
    case .watch(let watch, let isImmediate): add(watch, isImmediate)
    case .stop(let number):
      entry(number) { entry in
        entry.handle?.stop()
        entry.isActive = false
      }
    case .pause(let number):
      entry(number) { entry in
        if entry.isImmediate { return }
        entry.handle?.pause()
        entry.isPaused = true
      }
    case .resume(let number):
      entry(number) { entry in
        entry.handle?.resume()
        entry.isPaused = false
      }
    case .price(let article, let price):
      if prices[article] != price {
        for entry in entries where entry.isActive && entry.article == article {
          // This includes an article outside the list: its price is different when it returns.
          if case .elementPrice = entry.watch { entry.must = true }
        }
      }
      prices[article] = price
      articles[article].price = price
    default:
      _ = step.perform(on: &model)
      change(step)
    }
    if !array.elementsEqual(model.map { articles[$0] }, by: ===) {
      fail("the array is \(array.map(\.number)), not \(model)")
    }
    note(step, before)
  }

  /// Performs the step on the array.
  private func change(_ step: ArrayStep) {
    func at(_ position: Int) -> Int { position % array.count }
    switch step {
    case .insert(let article, let position):
      array.insert(articles[article], at: position % (array.count + 1))
    case .append(let numbers):
      if numbers.count == 1 {
        array.append(articles[numbers[0]])
      } else {
        array.append(contentsOf: numbers.map { articles[$0] })
      }
    case .set(let numbers): array.set(numbers.map { articles[$0] })
    case .clear: array.removeAll()
    case .reverse: array.reverse()
    case .sort: array.sort { $0.number < $1.number }
    case .removeEven: array.removeAll { $0.number % 2 == 0 }
    case .replaceSubrange(let start, let length, let numbers):
      let start = start % (array.count + 1)
      array.replaceSubrange(
        start..<min(start + length, array.count), with: numbers.map { articles[$0] })
    case .removeSubrange(let start, let length):
      let start = start % (array.count + 1)
      array.removeSubrange(start..<min(start + length, array.count))
    case _ where array.isEmpty: break
    case .remove(let position): array.remove(at: at(position))
    case .replace(let position, let article): array[at(position)] = articles[article]
    case .move(let from, let to): array.move(from: at(from), to: at(to))
    case .swap(let a, let b): array.swapAt(at(a), at(b))
    case .removeLast: array.removeLast()
    default: break
    }
  }

  private func entry(_ number: Int, _ body: (Entry) -> Void) {
    if entries.isEmpty { return }
    let entry = entries[number % entries.count]
    if entry.isActive { body(entry) }
  }

  private func add(_ watch: ArrayWatch, _ isImmediate: Bool) {
    let entry = Entry(entries.count, watch, isImmediate)
    entry.stored = watch.stored(model, prices)
    entry.delivered = watch.value(model, prices)
    entry.mirror = model
    let call = { [unowned self, unowned entry] in
      entry.calls += 1
      if !entry.isImmediate { order.append(entry.number) }
    }
    var index: Int?
    if case .element(let digits) = watch { index = digits }
    if case .elementPrice(let digits) = watch { index = digits }
    do {
      let path = try Path(watch.path)
      if case .edits = watch {
        entry.handle = try array.observeEdits(in: loop) { [unowned self, unowned entry] _, edits in
          call()
          entry.edits = edits.count
          for edit in edits { apply(edit, to: entry) }
        }
      } else if isImmediate {
        entry.handle = try array.observeImmediately(path, in: loop) { _, _ in call() }
      } else {
        entry.handle = try array.observe(path, in: loop) { _ in call() }
      }
    } catch {
      if let index, index >= model.count { return }
      return fail("'\(watch.path)' was refused: \(error)")
    }
    if let index {
      if index >= model.count { return fail("'\(watch.path)' of \(model.count) was accepted") }
      entry.article = model[index]
    }
    entries.append(entry)
  }

  private func apply(_ edit: CollectionEdit<Article>, to entry: Entry) {
    let numbered: CollectionEdit<Int> =
      switch edit {
      case .insert(let new, let at): .insert(new.number, at: at)
      case .remove(let old, let at): .remove(old.number, at: at)
      case .replace(let old, let new, let at): .replace(old.number, with: new.number, at: at)
      case .move(let element, let from, let at): .move(element.number, from: from, at: at)
      }
    switch numbered {
    case .remove(let old, let at), .replace(let old, _, let at), .move(let old, let at, _):
      guard entry.mirror.indices.contains(at), entry.mirror[at] == old else {
        return fail("watcher \(entry.number): \(numbered) does not fit \(entry.mirror)")
      }
    case .insert(_, let at):
      guard (0...entry.mirror.count).contains(at) else {
        return fail("watcher \(entry.number): \(numbered) does not fit \(entry.mirror)")
      }
    }
    numbered.apply(to: &entry.mirror)
  }

  /// After each step, decides which watchers have to be called.
  private func note(_ step: ArrayStep, _ before: [Int]) {
    for entry in entries where entry.isActive {
      let stored = entry.watch.stored(model, prices)
      let isChanged = stored != entry.stored
      entry.stored = stored
      if entry.isImmediate {
        if entry.calls != (isChanged ? 1 : 0) {
          fail("immediate watcher \(entry.number) was called \(entry.calls) times")
        }
        entry.calls = 0
      } else if isChanged {
        entry.must = true
      }
      if case .edits = entry.watch, before != model {
        entry.limit = entry.limit.flatMap { limit in step.edits.map { limit + $0 } }
      }
    }
  }

  private func flush() {
    order = []
    loop.flush()
    if order != order.sorted() || Set(order).count != order.count {
      fail("called in the order \(order)")
    }
    for entry in entries where entry.isActive && !entry.isImmediate {
      let isCalled = order.contains(entry.number)
      entry.calls = 0
      if entry.isPaused {
        if isCalled { fail("watcher \(entry.number) was called while paused") }
        continue
      }
      let value = entry.watch.value(model, prices)
      let hasLeft = entry.article.map { !model.contains($0) } ?? false
      let isExpected = entry.must || hasLeft || value != entry.delivered
      if isCalled != isExpected {
        fail(
          "watcher \(entry.number) of '\(entry.watch.path)' "
            + (isExpected ? "was not called" : "was called for nothing"))
      }
      check(entry)
      if case .edits = entry.watch, isCalled { checkEdits(of: entry) }
      entry.delivered = value
      entry.must = false
      if hasLeft { entry.isActive = false }
      if entry.handle?.isActive != entry.isActive {
        fail("watcher \(entry.number): \(entry.isActive) is not what isActive says")
      }
    }
  }

  private func checkEdits(of entry: Entry) {
    if entry.mirror != model { fail("edits make \(entry.mirror), not \(model)") }
    let distance = distance(from: entry.delivered, to: model)
    if entry.edits > entry.limit ?? distance {
      fail("\(entry.edits) edits where \(entry.limit ?? distance) do")
    }
    entry.limit = 0
  }

  /// Compares the values read through the path.
  private func check(_ entry: Entry) {
    let expected = entry.watch.value(model, prices)
    switch entry.watch {
    case .count, .sum, .least, .greatest:
      let value = (try? array.value(at: Path(entry.watch.path))) as? Int
      if value != expected.first { fail("'\(entry.watch.path)' is \(value ?? -1)") }
    case .first, .last:
      let value = (try? array.value(at: Path(entry.watch.path))) as? Article
      if value?.number != expected.first { fail("'\(entry.watch.path)' is another article") }
    default: break
    }
  }

  /// The number of single-element insertions, removals and replacements from `old` to `new`.
  private func distance(from old: [Int], to new: [Int]) -> Int {
    var row = Array(0...new.count)
    for i in old.indices {
      var diagonal = row[0]
      row[0] = i + 1
      for j in new.indices {
        let above = row[j + 1]
        row[j + 1] = old[i] == new[j] ? diagonal : 1 + min(diagonal, above, row[j])
        diagonal = above
      }
    }
    return row[new.count]
  }
}
