/// Models that other threads may release, and that are kept until the turn is over.
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
  /// Keeps the model until the turn is over; asks for a turn if there is none now.
  func hold(_ model: GuardedModel) {
    if heldModels.isEmpty, let onPending { onPending() }
    heldModels.add(model)
  }

  /// Releases the models: the turn is over, or there was none.
  func letGoOfModels() {
    while !heldModels.isEmpty, !isOccupied {
      for model in heldModels.takeAll() { model.letGo() }
    }
  }
}
