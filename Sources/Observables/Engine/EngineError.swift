/// An error that cannot be thrown to a caller.
package enum EngineError: Error {
  /// These watchers only re-triggered themselves or each other for the given number of turns; their
  /// calls were dropped (T4).
  case retriggered(watchers: [String], turns: Int)
  /// The hooks of `object` caused their own calls too often, by observing and stopping (T12).
  case hookLoop(object: String, key: String, times: Int)
  /// An immediate watcher triggered itself too often; the call was dropped (T9).
  case immediateLoop(watcher: String, times: Int)
  /// An operator met an operand of the wrong type (C9); its watcher stays.
  case operand(watcher: String, path: String, operation: Operation, element: Int?, value: String)
  /// A path of this watcher misspells a name of an object that appeared later (P9); the watcher
  /// stays.
  case unknownName(watcher: String, message: String)
  /// A registration requested by another thread failed.
  case registration(message: String)
  /// The callback of this watcher threw an error (T10); the watcher stays.
  case callback(WatcherError)
  /// A computation failed, and no code has read the property (Z8).
  case computation(property: String, message: String)
  /// This watcher passed on a value of the wrong type (K4); it continues.
  case value(watcher: String, message: String)
}

extension EngineError {
  /// The error that a callback threw, with its watcher; nil for other errors.
  var thrown: WatcherError? {
    if case .callback(let error) = self { error } else { nil }
  }
}

extension EngineError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .retriggered(let watchers, let turns):
      """
      after \(turns) turns in which watchers did nothing but trigger themselves or each other, \
      these calls were dropped: \(watchers.joined(separator: ", "))
      """
    case .value(let watcher, let message):
      "\(message), passed on by \(watcher)"
    case .unknownName(let watcher, let message):
      "\(message), observed by \(watcher)"
    case .computation(let property, let message):
      "\(property): \(message)"
    case .registration(let message):
      message
    case .callback(let error):
      error.description
    case .hookLoop(let object, let key, let times):
      """
      the hooks of \(object) set each other off \(times) times by observing and stopping, the last \
      time '\(key)'; the call was dropped
      """
    case .immediateLoop(let watcher, let times):
      "the immediate watcher \(watcher) triggered itself \(times) times; the call was dropped"
    case .operand(let watcher, let path, let operation, let element, let value):
      """
      '\(path)', observed by \(watcher): \(element.map { "element \($0)" } ?? "an element") \
      gives \(value) to '@\(operation)', \(operation.expectation)
      """
    }
  }
}
