import Synchronization

/// The list of properties of a generic class, which cannot store it: made once for each of its types.
///
/// For the code that `@ObservableModel` writes. May be called on any thread.
@_documentation(visibility: internal)
public func properties<Model: ObservableModel>(
  of type: Model.Type, _ make: () -> ModelProperties
) -> ModelProperties {
  let key = ObjectIdentifier(type)
  if let known = genericProperties.withLock({ $0[key] }) { return known }
  // Outside of the lock: it may ask for those of a superclass.
  let made = make()
  return genericProperties.withLock { properties in
    if let known = properties[key] { return known }
    properties[key] = made
    return made
  }
}

private let genericProperties = Mutex<[ObjectIdentifier: ModelProperties]>([:])
