import Observables

/// Draws the list on the terminal, once for each turn in which a shown value has changed.
@MainActor
final class ListView {
  init(_ list: TodoList) throws {
    let options = WatcherOptions(observer: self)
    try list.observe("todos.*", "todos.*.*", "status", in: .main, options: options) {
      [unowned self] list in draw(list)
    }
  }

  private func draw(_ list: TodoList) {
    for (index, todo) in list.todos.elements.enumerated() {
      print("  \(index + 1) [\(todo.isDone ? "x" : " ")] \(todo.title)\(todo.isUrgent ? " ❗" : "")")
    }
    print("  \(list.status)")
  }
}
