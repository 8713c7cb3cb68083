import Observables
import Testing

/// Misuse by callers ends the program with a sentence on the standard error stream.
///
/// One function reports all of it, and `Scripts/downstream` checks that in a release build.
struct MisuseTests {
  private func check(_ outcome: ExitTest.Result?, _ sentence: String) {
    let errors = String(decoding: outcome?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("Fatal error: Misuse: \(sentence)"), "\(errors)")
  }

  @Test func `a malformed path`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = "a..b" as Path
      }, "empty component 2 in key path")
  }

  // K4
  @Test func `a binding with an observer`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let (loop, a, b) = (Loop(), Person(), Person())
        try a.bind(["name"], to: b, in: loop, options: WatcherOptions(observer: a))
      }, "A binding takes no observer: it ends with the object that is bound")
  }

  // T12
  @Test func `a turn inside a watcher`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let loop = Loop()
        let person = Person()
        try person.observe("name", in: loop) { _ in loop.endTurn() }
        loop.turn { person.name = "x" }
      }, "A turn cannot end inside a watcher")
  }

  @Test func `an index out of range`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        ObservableArray([1, 2]).remove(at: 2)
      }, "Index 2 is out of range 0..<2")
  }
}
