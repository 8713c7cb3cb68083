import Foundation

guard CommandLine.arguments.count == 2 else {
  print("usage: todo SCRIPT")
  exit(2)
}
let app = try App(script: CommandLine.arguments[1])

// Another thread reads the input, as reading blocks. The main queue stays free for the loop and for
// the rest of the app.
let (lines, input) = AsyncStream.makeStream(of: String.self)
Thread.detachNewThread {
  while let line = readLine() { input.yield(line) }
  input.finish()
}
for await line in lines {
  print("> \(line)")
  await app.perform(line)
  // All lines of a file are available at once. Each gets a separate turn.
  await Task.yield()
}
