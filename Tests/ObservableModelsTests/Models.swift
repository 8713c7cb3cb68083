import ObservableModels

/// The models that the tests observe.
@ObservableModel class Person {
  var name: String
  var age = 0
  var address: Address?
  weak var boss: Person?
  private(set) var number = 7
  let born = 1815
  var clamped = 0 {
    willSet { log.append("will \(newValue)") }
    didSet {
      log.append("did \(oldValue)")
      if clamped > 10 { clamped = 10 }
    }
  }
  var onHello: (() -> Void)?
  var tags: [String] = []
  private var secret = 0
  @Observed private var hidden = 0
  @Ignored var log: [String] = []

  init(_ name: String, address: Address? = nil) {
    self.name = name
    self.address = address
  }

  func renumber() { number += 1 }
  func hide(_ value: Int) { (hidden, secret) = (value, value) }
}

@ObservableModel class Employee: Person {
  var salary = 0
}

@ObservableModel final class Manager: Employee {
  var team: Address?
}

@ObservableModel class Address {
  var zip: String
  init(_ zip: String) { self.zip = zip }
}

@ObservableModel class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}

@ObservableModel final class LabeledBox<Value>: Box<Value> {
  var label = ""
}

struct NoName: Error {}

/// A model with computed properties.
@ObservableModel final class Card {
  var first = "Ada"
  var last = "Byron"
  var address: Address?
  @Computed("first", "last") var full: String
  @Computed var line: String
  @Computed("first") private(set) var initial: String = "?"
  @LazyProperty(configure: "prepare") var stamp: Address?
  @LazyProperty(loader: "load") var size: Int?
  @LazyProperty var serial: Int
  @Ignored var calls: [String] = []

  private func makeFull() -> String {
    calls.append("full")
    return "\(first) \(last)"
  }
  private func makeLine() -> String { "\(full), \(address?.zip ?? "nowhere")" }
  private func makeInitial() throws -> String {
    guard let letter = first.first else { throw NoName() }
    return "\(letter)"
  }
  private static func makeStamp() -> Address { Address("new") }
  private func prepare(_ stamp: Address) { stamp.zip += " \(first)" }
  private func load(_ name: String) {
    calls.append("load \(name)")
    size = 3
  }
  private func makeSerial() -> Int {
    calls.append("serial")
    return calls.count
  }
}

/// A model that the toolchain's Observation reports, too; this file does not import that.
@ObservableModel(.observable) class Thermostat {
  var current = 20.0
}

@ObservableModel(.observable) final class Heater: Thermostat {
  var power = 0
}

/// Observation reports only the properties that this class adds.
@ObservableModel(.observable) final class ObservedAddress: Address {
  var isChecked = false
}
