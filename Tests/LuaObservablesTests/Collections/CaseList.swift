import Observables

/// A Swift array that the cases change, whatever the type of its elements.
protocol CaseList: AnyObject {
  var array: any KeyPathObservable { get }
  var count: Int { get }
  func get(_ index: Int) -> Any?
  func append(_ element: Any)
  func insert(_ element: Any, at index: Int)
  func remove(at index: Int) -> Any
  func replace(at index: Int, with element: Any)
  func move(from: Int, to: Int)
  func swap(_ a: Int, _ b: Int)
  func sort(by less: (Any, Any) throws -> Bool) rethrows
  func reverse()
  func clear()
  func set(_ elements: [Any])
  func observeEdits(
    in loop: Loop, _ callback: @escaping ([CollectionEdit<Any>]) -> Void
  ) throws -> Watcher
}

/// A list of one type of elements.
final class ListOf<Element>: CaseList {
  private let list: ObservableArray<Element>

  init(_ list: ObservableArray<Element>) { self.list = list }

  var array: any KeyPathObservable { list }
  var count: Int { list.count }
  func get(_ index: Int) -> Any? { list.indices.contains(index) ? list[index] : nil }
  func append(_ element: Any) { list.append(element as! Element) }
  func insert(_ element: Any, at index: Int) { list.insert(element as! Element, at: index) }
  func remove(at index: Int) -> Any { list.remove(at: index) }
  func replace(at index: Int, with element: Any) { list[index] = element as! Element }
  func move(from: Int, to: Int) { list.move(from: from, to: to) }
  func swap(_ a: Int, _ b: Int) { list.swapAt(a, b) }
  func sort(by less: (Any, Any) throws -> Bool) rethrows { try list.sort { try less($0, $1) } }
  func reverse() { list.reverse() }
  func clear() { list.removeAll() }
  func set(_ elements: [Any]) { list.set(elements.map { $0 as! Element }) }

  func observeEdits(
    in loop: Loop, _ callback: @escaping ([CollectionEdit<Any>]) -> Void
  ) throws -> Watcher {
    try list.observeEdits(in: loop) { _, edits in
      callback(
        edits.map { edit in
          switch edit {
          case .insert(let new, let at): .insert(new, at: at)
          case .remove(let old, let at): .remove(old, at: at)
          case .replace(let old, let new, let at): .replace(old, with: new, at: at)
          case .move(let element, let from, let at): .move(element, from: from, at: at)
          }
        })
    }
  }
}
