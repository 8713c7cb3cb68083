/// What a server says of itself, as far as mirrors depend on it.
struct ServerSettings {
  /// Why no mirror works there; nil if mirrors do.
  private(set) var obstacle: String?
  /// What could be lost there (A7).
  private(set) var risks: [String] = []

  /// Reads the answer to INFO.
  init(_ info: String, of address: RedisAddress) {
    var facts: [Substring: Substring] = [:]
    for line in info.split(whereSeparator: \.isNewline) {
      if let colon = line.firstIndex(of: ":") {
        facts[line[..<colon]] = line[line.index(after: colon)...]
      }
    }
    if let version = facts["redis_version"] {
      let parts = version.split(separator: ".").map { Int($0) ?? 0 }
      if (parts.first ?? 0, parts.dropFirst().first ?? 0) < (6, 2) {
        let version = address.quoted(version.utf8)
        obstacle = "has version \(version); a mirror needs Redis 6.2 or later"
      }
    }
    // A server that loads its data shows its settings later.
    if facts["loading"] == "1" { return }
    if facts["aof_enabled"] == "0" {
      risks.append("without an append-only file, it forgets acknowledged writes when it ends")
    }
    if let policy = facts["maxmemory_policy"], policy != "noeviction", facts["maxmemory"] != "0" {
      risks.append(
        "with maxmemory-policy \(address.quoted(policy.utf8)), it may drop the whole state")
    }
  }
}
