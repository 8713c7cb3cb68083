import LibC
import Lua
import Testing

/// S6: the release of the loaded library.
struct ReleaseTests {
  /// The release that the library names in a constant, such as "5.4.4".
  private static let named: String? = dlsym(nil, "lua_ident").flatMap { symbol in
    let text = String(cString: symbol.assumingMemoryBound(to: CChar.self))
    return text.firstMatch(of: /Lua (5\.4\.\d+)/).map { String($0.1) }
  }

  @Test(.enabled(if: named != nil))
  func `the library behaves like the release that it names`() {
    let latest = LuaRelease.v5_4_8
    let isLater = Self.named.map {
      !["0", "1", "2", "3", "4", "5", "6", "7"].contains($0.suffix(1))
    }
    #expect(LuaRelease.loaded.description == (isLater == true ? "\(latest)" : Self.named))
  }

  @Test func `releases are ordered`() {
    #expect(LuaRelease.v5_4_0 < .v5_4_4 && LuaRelease.v5_4_7 < .v5_4_8)
    #expect("\(LuaRelease.v5_4_7)" == "5.4.7")
  }

  @Test func `patches are recognized, too`() {
    // Debian's 5.4.4 has this patch.
    let isDebian = LuaRelease.loaded == .v5_4_4 && access("/etc/debian_version", R_OK) == 0
    if isDebian { #expect(LuaRelease.patches == ["CVE-2022-28805"]) }
    if LuaRelease.loaded == .v5_4_8 { #expect(LuaRelease.patches.isEmpty) }
  }
}
