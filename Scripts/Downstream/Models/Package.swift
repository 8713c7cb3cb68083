// swift-tools-version: 6.2

import PackageDescription

/// A program that uses models by macro.
func program(_ name: String, _ settings: SwiftSetting...) -> Target {
  .executableTarget(
    name: name,
    dependencies: [
      .product(name: "Lua", package: "obs-lua"),
      .product(name: "LuaObservables", package: "obs-lua"),
      .product(name: "ObservableModels", package: "obs-lua"),
      .product(name: "ProtocolObservers", package: "obs-lua"),
    ],
    swiftSettings: [.swiftLanguageMode(.v6)] + settings)
}

let package = Package(
  name: "models",
  platforms: [.macOS(.v15)],
  // This trait enables Macros, and lets the build use the modules that the tests have compiled.
  dependencies: [.package(name: "obs-lua", path: "../../..", traits: ["Records"])],
  targets: [
    program("chores"), program("models"), program("jukebox", .defaultIsolation(MainActor.self)),
    // The same checks, with models that belong to the main actor in three ways.
    program("written"),
    program("inferred", .enableUpcomingFeature("InferIsolatedConformances")),
    program("defaulted", .defaultIsolation(MainActor.self)),
    .testTarget(
      name: "ShippingTests",
      dependencies: [
        .product(name: "LuaObservables", package: "obs-lua"),
        .product(name: "Observables", package: "obs-lua"),
        .product(name: "ScriptFixtures", package: "obs-lua"),
      ],
      exclude: ["Fixtures"], swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
