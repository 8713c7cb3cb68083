import Observables

/// A stored property of a model of the tests, in the slot with that number.
///
/// Its reads are tracked, and its writes are reported.
@propertyWrapper
struct Observed<Value: Equatable> {
  private let slot: Int
  private var stored: Value

  init(wrappedValue: Value, _ slot: Int) { (stored, self.slot) = (wrappedValue, slot) }

  var wrappedValue: Value {
    get { fatalError("@Observed is for properties of models") }
    set { fatalError("@Observed is for properties of models") }
  }

  static subscript<Model: ObservableModel>(
    _enclosingInstance model: Model,
    wrapped wrapped: ReferenceWritableKeyPath<Model, Value>,
    storage storage: ReferenceWritableKeyPath<Model, Observed>
  ) -> Value {
    get {
      let property = model[keyPath: storage]
      model.observation.access(property.slot, of: model)
      return property.stored
    }
    set {
      let property = model[keyPath: storage]
      model[keyPath: storage].stored = newValue
      model.observation.didSet(property.slot, from: property.stored, to: newValue)
    }
  }
}
