import LuaObservables
import Observables

/// The model of the app: Swift code and scripts use the same objects.
final class TodoList: ObservableModel {
  static let properties = ModelProperties(for: TodoList.self) {
    Property("todos", get: { $0.todos })
    Property("status", get: { $0.status }, set: { $0.status = $1 })
  }
  let observation = ModelObservation()
  let todos = ObservableArray<Todo>()
  var status = "" { didSet { observation.didSet(1, from: oldValue, to: status) } }

  func add(_ title: String) { todos.append(Todo(title)) }
}

extension TodoList: ScriptModel {
  static let methods = ModelMethods(for: TodoList.self) {
    Method("add") { (list, title: String) in list.add(title) }
  }
}

final class Todo: ObservableModel {
  static let properties = ModelProperties(for: Todo.self) {
    Property("title", get: { $0.title }, set: { $0.title = $1 })
    Property("isDone", get: { $0.isDone }, set: { $0.isDone = $1 })
    Property("isUrgent", get: { $0.isUrgent }, set: { $0.isUrgent = $1 })
  }
  let observation = ModelObservation()
  var title: String { didSet { observation.didSet(0, from: oldValue, to: title) } }
  var isDone = false { didSet { observation.didSet(1, from: oldValue, to: isDone) } }
  var isUrgent = false { didSet { observation.didSet(2, from: oldValue, to: isUrgent) } }

  init(_ title: String) { self.title = title }
}
