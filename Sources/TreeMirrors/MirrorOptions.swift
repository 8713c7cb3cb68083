/// How a tree is mirrored.
package struct MirrorOptions {
  /// Whether this process may write.
  package var writes = true
  /// The number of batches that stay in the stream behind the snapshot.
  package var keep = 10_000
  /// After how many batches there is a new snapshot.
  package var snapshot = 1000
  /// The field by which elements of lists are the same, when the tree takes on a published state.
  package var key: [UInt8]?
  /// Whether a batch that others have preceded is given back.
  package var check = false
  /// The path of the file that keeps unacknowledged batches.
  package var journal: String?
  /// The most bytes of one text of the server, such as the snapshot or a batch.
  package var limit = 64 << 20
  /// The limits of what waits for the server: batches and bytes.
  package var (mostBatches, mostBytes) = (100_000, 64 << 20)

  /// The shortest and the longest time between attempts to connect, in seconds.
  package var delays = (0.05, 2.0)
  /// Receives warnings, which otherwise go to the tree.
  package var onWarning: ((String) -> Void)?
  /// How the mirror reaches servers.
  package var network: any MirrorNetwork = SystemNetwork()

  package init() {}
}
