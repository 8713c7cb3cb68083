/// Models that other threads may let go of, and that are kept until the turn is over.
struct HeldModels {
  private var models: [GuardedModel] = []

  var isEmpty: Bool { models.isEmpty }

  mutating func add(_ model: GuardedModel) { models.append(model) }

  mutating func takeAll() -> [GuardedModel] {
    defer { models = [] }
    return models
  }
}

extension Engine {
  /// The model is kept until the turn is over; one is asked for if there is none now.
  func hold(_ model: GuardedModel) {
    if heldModels.isEmpty, let onPending { onPending() }
    heldModels.add(model)
  }

  /// The turn is over, or there was none.
  func letGoOfModels() {
    while !heldModels.isEmpty, !isOccupied {
      for model in heldModels.takeAll() { model.letGo() }
    }
  }
}
