import Observables
import Testing

/// W3: stopping at writes.
struct BreakingTests {
  @Test func `without a debugger each change is a line on the standard error stream`() async {
    let outcome = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let loop = Loop()
      let person = Person("Ann")
      let watcher = try person.breakOnChange("name", in: loop, file: "Here.swift", line: 7)
      person.name = "Bob"
      person.name = "Bob"
      watcher.stop()
      person.name = "Eve"
    }
    let errors = String(decoding: outcome?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      errors.contains(
        "break on change of 'name' (registered at Here.swift:7): name: Ann → Bob\n"))
    #expect(!errors.contains("Eve"))
  }

  // P9
  @Test func `an unknown name is an error`() {
    #expect(throws: PathError.self) { try Person("Ann").breakOnChange("nmae", in: Loop()) }
  }
}
