// swift-tools-version: 6.2

import PackageDescription

// Does not compile: it checks the compiler's messages.
let package = Package(
  name: "refused",
  dependencies: [.package(name: "obs-lua", path: "../../..", traits: ["Macros"])],
  targets: [
    .target(
      name: "refused",
      dependencies: ["ObservableModels", "LuaObservables", "Lua"].map {
        .product(name: $0, package: "obs-lua")
      },
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
