import TestSupport

/// A step of a random program over an array of six articles, which are identified by numbers.
///
/// Positions are taken modulo the count, so that a program stays valid when steps are left out.
enum ArrayStep {
  case insert(Int, at: Int)
  case append([Int])
  case remove(Int)
  case removeSubrange(Int, Int)
  case replace(Int, Int)
  case replaceSubrange(Int, Int, [Int])
  case move(Int, Int)
  case swap(Int, Int)
  case sort, reverse, clear, removeLast, removeEven
  case set([Int])
  case price(Int, Int)
  case watch(ArrayWatch, isImmediate: Bool)
  case stop(Int), pause(Int), resume(Int)
  case flush

  static let articles = 6

  static func random(using generator: inout SeededGenerator) -> ArrayStep {
    func number(_ limit: Int) -> Int { .random(in: 0..<limit, using: &generator) }
    func some() -> [Int] { (0..<number(5)).map { _ in number(articles) } }
    switch number(44) {
    case 0..<4: return .insert(number(articles), at: number(8))
    case 4, 5: return .append(some())
    case 6..<9: return .remove(number(8))
    case 9: return .removeSubrange(number(8), number(4))
    case 10..<13: return .replace(number(8), number(articles))
    case 13: return .replaceSubrange(number(8), number(4), some())
    case 14: return .move(number(8), number(8))
    case 15: return .swap(number(8), number(8))
    case 16: return .sort
    case 17: return .reverse
    case 18: return number(3) == 0 ? .clear : .removeLast
    case 19: return .removeEven
    case 20: return .set(some())
    case 21..<25: return .price(number(articles), number(5))
    case 25..<33:
      let isImmediate = number(5) == 0
      let watch = isImmediate ? .every : ArrayWatch.random(using: &generator)
      return .watch(watch, isImmediate: isImmediate)
    case 33: return .stop(number(12))
    case 34: return .pause(number(12))
    case 35, 36: return .resume(number(12))
    default: return .flush
    }
  }

  /// The number of edits for this step; nil if the whole list is compared.
  var edits: Int? {
    switch self {
    case .insert, .remove, .replace, .move, .removeLast: 1
    case .swap: 2
    case .append(let elements): elements.count
    default: nil
    }
  }

  /// Applies a change of the array to the numbers of its articles; returns false for other steps.
  func perform(on model: inout [Int]) -> Bool {
    func at(_ position: Int) -> Int { position % model.count }
    switch self {
    case .insert(let article, let position):
      model.insert(article, at: position % (model.count + 1))
    case .append(let articles): model += articles
    case .set(let articles): model = articles
    case .clear: model = []
    case .reverse: model.reverse()
    case .sort: model.sort()
    case .removeEven: model.removeAll { $0 % 2 == 0 }
    case .replaceSubrange(let start, let length, let articles):
      let start = start % (model.count + 1)
      model.replaceSubrange(start..<min(start + length, model.count), with: articles)
    case .removeSubrange(let start, let length):
      let start = start % (model.count + 1)
      model.removeSubrange(start..<min(start + length, model.count))
    case .remove, .replace, .move, .swap, .removeLast:
      if model.isEmpty { return true }
      switch self {
      case .remove(let position): model.remove(at: at(position))
      case .replace(let position, let article): model[at(position)] = article
      case .move(let from, let to):
        let to = at(to)
        model.insert(model.remove(at: at(from)), at: to)
      case .swap(let a, let b): model.swapAt(at(a), at(b))
      default: model.removeLast()
      }
    default: return false
    }
    return true
  }
}

/// The paths that random programs watch.
enum ArrayWatch {
  case slot(Int), slotPrice(Int), element(Int), elementPrice(Int)
  case every, everyPrice, spreadPrice
  case count, sum, least, greatest, first, last, distinct, any
  case edits

  static func random(using generator: inout SeededGenerator) -> ArrayWatch {
    let number = Int.random(in: 0..<5, using: &generator)
    return [
      .slot(number), .slotPrice(number), .element(number), .elementPrice(number), .every,
      .everyPrice, .spreadPrice, .count, .sum, .least, .greatest, .first, .last, .distinct, .any,
      .edits, .edits,
    ].randomElement(using: &generator)!
  }

  var path: String {
    switch self {
    case .slot(let index): "#\(index)"
    case .slotPrice(let index): "#\(index).price"
    case .element(let index): "\(index)"
    case .elementPrice(let index): "\(index).price"
    case .every, .edits: "*"
    case .everyPrice: "*.price"
    case .spreadPrice: "price"
    case .count: "count"
    case .sum: "@sum.price"
    case .least: "@min.price"
    case .greatest: "@max.price"
    case .first: "@first"
    case .last: "@last"
    case .distinct: "@distinctUnionOfObjects.price"
    case .any: "@any"
    }
  }

  /// The stored values on the path: any change of them calls the watcher.
  func stored(_ model: [Int], _ prices: [Int]) -> [Int] {
    switch self {
    case .slot(let index): return index < model.count ? [model[index]] : []
    case .slotPrice(let index):
      return index < model.count ? [model[index], prices[model[index]]] : []
    case .every: return model
    case .everyPrice, .spreadPrice: return model + model.map { prices[$0] }
    default: return []
    }
  }

  /// The value of the path at the end of a turn: a different value calls the watcher.
  func value(_ model: [Int], _ prices: [Int]) -> [Int] {
    let values = model.map { prices[$0] }
    return switch self {
    case .count: [model.count]
    case .sum: [values.reduce(0, +)]
    case .least: values.min().map { [$0] } ?? []
    case .greatest: values.max().map { [$0] } ?? []
    case .first: model.first.map { [$0] } ?? []
    case .last: model.last.map { [$0] } ?? []
    case .distinct: Set(values).sorted()
    case .any: [model.isEmpty ? 0 : 1]
    case .edits: model
    default: []
    }
  }
}
