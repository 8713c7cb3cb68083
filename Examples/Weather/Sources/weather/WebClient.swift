import Foundation
import Observables

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests to a web service, and handles the answers in turns of the loop.
final class WebClient {
  private let base: URL
  private let loop: Loop
  private let session: URLSession

  struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  init(_ base: URL, loop: Loop) {
    (self.base, self.loop) = (base, loop)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 20
    session = URLSession(configuration: configuration)
  }

  /// Calls `handle` in a separate turn with the answer, or with the error if there is no answer.
  ///
  /// The loop keeps running until then.
  func get<Value: Decodable & Sendable>(
    _ path: String, as type: Value.Type, handle: @escaping (Result<Value, any Error>) -> Void
  ) {
    // The closure is only called on the loop's thread, so its captures need not be Sendable.
    nonisolated(unsafe) let handle = handle
    loop.retain()
    let request = session.dataTask(with: base.appending(path: path)) {
      [inbox = loop.inbox] data, response, error in
      // This is a thread of URLSession; it decodes the answer.
      let result = Result<Value, any Error> {
        if let error { throw error }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else { throw Refusal(description: "\(path) gave status \(status)") }
        return try JSONDecoder().decode(type, from: data ?? Data())
      }
      inbox.post {
        Loop.current?.release()
        handle(result)
      }
    }
    request.resume()
  }
}
