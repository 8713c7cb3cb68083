// swift-tools-version: 6.2

import PackageDescription

// Does not compile: it checks the compiler's messages.
let package = Package(
  name: "refused",
  // This trait enables Macros, and lets the build use the modules that the tests have compiled.
  dependencies: [.package(name: "obs-lua", path: "../../..", traits: ["Records"])],
  targets: [
    .target(
      name: "refused",
      dependencies: ["ObservableModels", "LuaObservables", "Lua"].map {
        .product(name: $0, package: "obs-lua")
      },
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
