import Foundation
import ObservableRecords

guard CommandLine.arguments.count == 3 else {
  print("usage: ledger FILE SCRIPT")
  exit(2)
}
let loop = Loop()
let app: App
do {
  app = try App(CommandLine.arguments[1], script: CommandLine.arguments[2], loop: loop)
} catch {
  print("ledger: \(error)")
  exit(1)
}

// Another thread reads the input, as reading blocks: the loop keeps running and shows changes of
// the other window.
let inbox = loop.inbox
let gate = DispatchSemaphore(value: 0)
loop.retain()
Thread.detachNewThread {
  while let line = readLine() {
    inbox.post {
      MainThread.perform(line) { gate.signal() }
    }
    // The lines of a file are available at once; each is shown before the next one is read.
    gate.wait()
  }
  inbox.post { MainThread.end() }
}
loop.run()
