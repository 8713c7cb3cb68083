import ObservableModels
import Observables
import Testing

/// Models that inherit from models, and generic ones.
struct InheritanceTests {
  private let loop = Loop(clock: .virtual)

  @Test func `slots continue over two levels of inheritance`() {
    #expect(Employee.properties.names == Person.properties.names + ["salary"])
    #expect(Manager.properties.names == Employee.properties.names + ["team"])
    #expect(Manager.properties.typeName == "Manager")
  }

  @Test func `properties of each level are observed on the lowest`() throws {
    let manager = Manager("Charles")
    var log: [String] = []
    try manager.observe("name", in: loop) { log.append("name \($0.name)") }
    try manager.observe("salary", in: loop) { log.append("salary \($0.salary)") }
    try manager.observe("team.zip", in: loop) { log.append("zip \($0.team?.zip ?? "-")") }
    loop.turn { manager.team = Address("1") }
    loop.turn { (manager.name, manager.salary) = ("Babbage", 5) }
    #expect(log == ["zip 1", "name Babbage", "salary 5"])
  }

  @Test func `a generic model has separate properties for each of its types`() throws {
    let (number, text) = (Box(1), LabeledBox("a"))
    #expect(Box<Int>.properties.names == ["value"])
    #expect(LabeledBox<String>.properties.names == ["value", "label"])
    #expect(Box<Int>.properties === Box<Int>.properties)
    #expect(Box<Int>.properties !== Box<Double>.properties)
    var log: [String] = []
    try number.observe("value", in: loop) { log.append("\($0.value)") }
    try text.observe("value", in: loop) { log.append($0.value) }
    try text.observe("label", in: loop) { log.append($0.label) }
    loop.turn { (number.value, text.value, text.label) = (2, "b", "c") }
    #expect(log == ["2", "b", "c"])
  }

  @Test func `a class inside an extension can be a model, even in a generic extension`() throws {
    let label = Box<Int>.Label(5)
    var log: [Int] = []
    try label.observe("value", in: loop) { log.append($0.value) }
    loop.turn { label.value = 6 }
    #expect(log == [6])
    #expect(Box<Int>.Label.properties !== Box<String>.Label.properties)
  }
}

extension Box {
  @ObservableModel final class Label {
    var value: Value
    init(_ value: Value) { self.value = value }
  }
}
